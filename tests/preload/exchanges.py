"""Compares shoal's exchanges of mpi4py's buffers with mpi4py's own, which get the same arguments. Prints the faults."""

import functools
import gc
import weakref

import numpy as np
from mpi4py import MPI

import shoal

np.set_printoptions(threshold=4, edgeitems=1)
world = MPI.COMM_WORLD.Dup()
rank, ranks = world.rank, world.size
faults = 0


def expect(holds, what):
    global faults
    if not holds:
        faults += 1
        print(f"rank {rank}: {what}", flush=True)


def outcome(exchange, send, receive):
    """The receive buffer afterwards, or None if the arguments are refused."""
    buffer = np.full(200, -1.0)
    try:
        exchange(send, receive(buffer))
    except (TypeError, ValueError, KeyError, BufferError, OverflowError, MPI.Exception):
        return None
    return buffer


def same(name, send, receive, taken=True, comm=world):
    """Expects the same from shoal's exchange as from mpi4py's own.

    `receive(buffer)` describes the receive buffer. `taken` says whether mpi4py takes such arguments, on all ranks.
    """
    expected = outcome(getattr(comm, name.capitalize()), send, receive)
    got = outcome(functools.partial(getattr(shoal, name), comm), send, receive)
    what = f"{name} of {send} {receive(np.zeros(200))}"
    expect((expected is not None) == taken, f"mpi4py's own {what}")
    expect(got is None if expected is None else got is not None and np.array_equal(got, expected), what)


refused = functools.partial(same, taken=False)  # before anything is sent


class OfDevice:
    """Memory that describes itself as that of device libraries does."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__array_interface__ | {"version": 3}


class OfLibrary:
    """Memory that describes itself by DLPack, as libraries do for each other."""

    def __init__(self, array):
        self.array = array
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


data = rank * 1000 + np.arange(100.0)
counts = [1 + (rank + i) % 3 for i in range(ranks)]
comes = [1 + (i + rank) % 3 for i in range(ranks)]
places = [5 * i for i in range(ranks)]
half = MPI.DOUBLE.Create_vector(2, 1, 3).Commit()
for send, receive in [
    (data[: 4 * ranks], lambda b: b[: 4 * ranks]),
    ([data, 3, MPI.DOUBLE], lambda b: [b, 3, "d"]),
    ([data, 1, half], lambda b: [b, 2, MPI.DOUBLE]),
    (data[: 4 * ranks].reshape(2, -1).T, lambda b: b[: 4 * ranks].reshape(2, -1).T),
    (memoryview(data[: 4 * ranks].reshape(2, -1).T), lambda b: memoryview(b[: 4 * ranks].reshape(2, -1).T)),
    ([data, (2, 3), MPI.DOUBLE], lambda b: [b, [2, 5], "d"]),
    ([data, 2, 3, MPI.DOUBLE], lambda b: [b, np.int32(2), 5, None]),
    ([data[: 4 + 2 * ranks], None, 4, "d"], lambda b: [b, 2, None, MPI.DOUBLE]),
    ([None, 0, MPI.DOUBLE], lambda b: [MPI.BOTTOM, 0, "d"]),
    ([b"x" * 8 * ranks, MPI.BYTE], lambda b: [b, 1, MPI.DOUBLE]),
    (b"x" * 8 * ranks, lambda b: b.view(np.uint8)[: 8 * ranks]),
    ([data[: 4 * ranks].astype(">f8"), "d"], lambda b: [b, 4, "d"]),
    ([data[: 4 * ranks].view("M8[s]"), "d"], lambda b: [b.view("M8[s]"), 4, MPI.DOUBLE]),
    (OfDevice(data[: 4 * ranks]), lambda b: OfDevice(b[: 4 * ranks])),
    (OfLibrary(data[: 4 * ranks]), lambda b: [OfLibrary(b), 4, MPI.DOUBLE]),
    (data[:0], lambda b: b[:0]),
]:
    same("alltoall", send, receive)
for send, receive in [
    (data[: 4 * ranks], lambda b: None),
    (data[: 4 * ranks], lambda b: bytes(32 * ranks)),
    (data[: 8 * ranks : 2], lambda b: b[: 4 * ranks]),
    (data[: 4 * ranks].astype(">f8"), lambda b: b[: 4 * ranks]),
    ([data, 2.0, "d"], lambda b: b[: 2 * ranks]),
    ([data, -1, "d"], lambda b: b[: 2 * ranks]),
    ([data, 2, -1, "d"], lambda b: b[: 2 * ranks]),
    ([data, 0, 101, "d"], lambda b: b[:0]),
    ([data, 2, 0, "d", 0], lambda b: b[: 2 * ranks]),
    ([data[: 2 * ranks], "nothing"], lambda b: b[: 2 * ranks]),
    ([data.tobytes()[:-1], None, "d"], lambda b: b[: 2 * ranks]),
    ([None, 1, "d"], lambda b: b[:ranks]),
    ([None, 0], lambda b: b[:0]),
    ([[1.0] * ranks, 1, "d"], lambda b: b[:ranks]),
    *([(data[: 4 * ranks + 1], lambda b: b[: 4 * ranks])] if ranks > 1 else []),
]:
    refused("alltoall", send, receive)
    refused("ialltoall", send, receive)
    refused("alltoall_init", send, receive)
refusal = outcome(functools.partial(shoal.alltoall, world), data[: 4 * ranks], lambda b: MPI.IN_PLACE)
expect(refusal is None, "received in place")
for send, receive in [
    ([data, counts], lambda b: [b, comes]),
    ([data, (counts, places)], lambda b: [b, (comes, places), MPI.DOUBLE]),
    ([data, counts, places, MPI.DOUBLE], lambda b: [b, np.array(comes), np.array(places), "d"]),
    (data[: 2 * ranks], lambda b: b[: 2 * ranks]),
    ([data, counts, 3, MPI.DOUBLE], lambda b: [b, comes, 4, "d"]),
    ([data, (counts, 3)], lambda b: [b, (np.array(comes, np.uint8), np.int64(4))]),
    ([data, (2, 3)], lambda b: [b, (2, None), "d"]),
    ([data, 2, None, "d"], lambda b: [b, 2, places[::-1], None]),
    ([data[: 2 * ranks + 1], "d"], lambda b: [b, 2 + (rank == 0)]),
    ([None, 0, MPI.DOUBLE], lambda b: [None, [0] * ranks, places, MPI.DOUBLE]),
    (np.asfortranarray(data[: 4 * ranks].reshape(2, -1)), lambda b: [b.reshape(2, -1).T, 4]),
]:
    same("alltoallv", send, receive)
for send, receive in [
    ([data, [counts, places]], lambda b: [b, (comes, places)]),
    ([data, counts[:-1]], lambda b: [b, comes]),
    ([data, counts, places[:-1], "d"], lambda b: [b, comes]),
    ([data, [1.0] * ranks], lambda b: [b, [1] * ranks]),
    ([data, [2**63] * ranks], lambda b: [b, [1] * ranks]),
    ([data, np.ones(ranks)], lambda b: [b, [1] * ranks]),
    (None, lambda b: None),
]:
    refused("alltoallv", send, receive)
    refused("ialltoallv", send, receive)
    refused("alltoallv_init", send, receive)
bytes_at = [8 * place for place in places]
same(
    "alltoallw",
    [data, counts, bytes_at, [MPI.DOUBLE] * ranks],
    lambda b: [b, (comes, bytes_at), [MPI.DOUBLE] * ranks],
)
doubles = [MPI.DOUBLE] * ranks
same("alltoallw", [data.reshape(10, 10).T, doubles], lambda b: [b, ([1] * ranks, bytes_at), doubles])
same("alltoallw", [None, [0] * ranks, bytes_at, doubles], lambda b: [b[:0], ([0] * ranks, bytes_at), doubles])
for send in [
    [data, counts, bytes_at, MPI.DOUBLE],
    [data, counts, bytes_at, doubles[:-1]],
    [data, counts, bytes_at, ["d"] * ranks],
    [data, counts, bytes_at[:-1], doubles],
    [data, counts, None, doubles],
    [data, 1, 0, doubles],
    [None, doubles],
    [data],
    data[0],
    data,
]:
    refused("alltoallw", send, lambda b: [b, (comes, bytes_at), doubles])
    refused("ialltoallw", send, lambda b: [b, (comes, bytes_at), doubles])


# Exchanges among neighbours, called for two communicators: a line, whose ends have nobody on one side, and a graph in
# which each rank sends twice to the next rank and once to the first.
def among_neighbors(neighbors):
    among, refused_among = functools.partial(same, comm=neighbors), functools.partial(refused, comm=neighbors)
    going, coming = neighbors.outdegree, neighbors.indegree
    sizes = [max(source, 0) + 1 for source in neighbors.inedges]  # nobody has a negative number
    blocks_at, steps = [5 * i for i in range(going)], [5 * i for i in range(coming)]
    among("neighbor_alltoall", data[: 4 * going], lambda b: b[: 4 * coming])
    among("neighbor_alltoall", [data, 3, MPI.DOUBLE], lambda b: [b, 3, "d"])
    among("neighbor_alltoall", [data, (2, 3), "d"], lambda b: [b, (2, 5), MPI.DOUBLE])
    among("neighbor_alltoall", [data, 1, half], lambda b: [b, 2, MPI.DOUBLE])
    among("neighbor_alltoallv", [data, [rank + 1] * going], lambda b: [b, sizes])
    among("neighbor_alltoallv", [data, 2, blocks_at, "d"], lambda b: [b, ([2] * coming, steps)])
    among(
        "neighbor_alltoallw",
        [data, [2] * going, [8 * at for at in blocks_at], [MPI.DOUBLE] * going],
        lambda b: [b, ([2] * coming, [8 * at for at in steps]), [MPI.DOUBLE] * coming],
    )
    refused_among("neighbor_alltoall", [data, 1.5, "d"], lambda b: [b, 1, "d"])
    refused_among("neighbor_alltoallv", [data, [1] * (going + 1)], lambda b: [b, [1] * coming])
    refused_among("neighbor_alltoallv", None, lambda b: [b, [1] * coming])
    refused_among("neighbor_alltoallw", [data, [1] * going, blocks_at, "d"], lambda b: None)
    far = outcome(functools.partial(shoal.neighbor_alltoall, neighbors), [data, 2**31, "d"], lambda b: [b, 2**31, "d"])
    expect(far is None, "more elements than C's function takes")
    neighbors.Free()


sources = [(rank - 1) % ranks] * 2 + (list(range(ranks)) if rank == 0 else [])
among_neighbors(world.Create_cart([ranks], [False]))
among_neighbors(world.Create_dist_graph_adjacent(sources, [(rank + 1) % ranks] * 2 + [0]))
nobody = outcome(functools.partial(shoal.neighbor_alltoall, world), data[:ranks], lambda b: b[:ranks])
expect(nobody is None, "a communicator without neighbours")

for kind in (np.int8, np.complex128, np.float32):
    mine = np.full(ranks, rank, kind)
    shoal.alltoall(world, MPI.IN_PLACE, mine)
    expect((mine == np.arange(ranks)).all(), f"in place of {kind}")

out, into = data[:ranks].copy(), np.zeros(ranks)
open_one = shoal.ialltoall(world, out, into)
while not open_one.test():
    pass
expect((into == 1000 * np.arange(ranks) + rank).all(), "ialltoall")
shoal.ialltoallv(world, out, into).wait()
typed = [[one, ([1] * ranks, [8 * i for i in range(ranks)]), [MPI.DOUBLE] * ranks] for one in (out, into)]
into[:] = -1
shoal.ialltoallw(world, *typed).wait()
expect((into == 1000 * np.arange(ranks) + rank).all(), "ialltoallw")
with (
    shoal.alltoallv_init(world, out, into) as repeated,
    shoal.alltoall_init(world, out, into) as other,
    shoal.alltoallw_init(world, *typed) as one_of_types,
):
    for turn in range(5):
        for one in (repeated, other, one_of_types):
            out[:], into[:] = rank + turn * 1000 + np.arange(ranks) * 10, -1
            one.start()
            one.wait()
            expect((into == np.arange(ranks) + turn * 1000 + 10 * rank).all(), "persistent")
try:
    with shoal.alltoall_init(world, out, into) as left:
        left.start()
        raise ArithmeticError("the program's own")
except ArithmeticError:
    left.wait()
    left.free()
where = weakref.ref(mine := data[:ranks].copy())
shoal.ialltoall(world, mine, into)
del mine
gc.collect()
expect(where() is not None, "what is sent stays while it is under way, also where nobody has the request")

# Each rank sends two blocks to the next rank, an empty one to itself, and one to the first rank.
to, sizes = [(rank + 1) % ranks, rank, (rank + 1) % ranks, 0], [rank + 1, 0, 2, 1]
for came in (shoal.exchange(world, [data, sizes], to), shoal.iexchange(world, [data, sizes], to).arrivals()):
    expected = []
    for source in range(ranks):
        sent = (source * 1000 + np.arange(100.0))[: source + 4]
        blocks = [sent[: source + 1], sent[:0], sent[source + 1 : source + 3], sent[source + 3 :]]
        for target, block in zip([(source + 1) % ranks, source, (source + 1) % ranks, 0], blocks, strict=True):
            if target == rank:
                expected.append((source, block))
    expect(len(came) == len(expected), f"{len(came)} blocks came")
    for (source, block), (from_whom, what) in zip(came, expected, strict=True):
        expect(source == from_whom and np.array_equal(block, what), f"the block of {from_whom}")
came = shoal.exchange(world, [data, 1, 0, half], [0])
expect(len(came) == (ranks if rank == 0 else 0), "types with gaps")
expect(all(block.view(float)[1] == 1000 * source + 3 for source, block in came), "what came of them")
expect(len(shoal.exchange(world, [data, 0], [])) == 0, "nothing at all")

try:
    shoal.exchange(world, [data, 1], [ranks if rank == 0 else 0])
    expect(False, "no error for a rank that there is not")
except MPI.Exception as error:
    expect(error.Get_error_class() == (MPI.ERR_RANK if rank == 0 else MPI.ERR_OTHER), str(error))
# The rank whose arguments are wrong gets an error of Python, and the others get an error of MPI.
for wrong in [[data, 1.5], [data, [1, 1]], [[1.0], 1], None, data[::2]]:
    for how in (shoal.exchange, lambda *given: shoal.iexchange(*given).arrivals()):
        try:
            how(world, wrong if rank == 0 else [data, 1], [0])
            expect(False, f"no error for {wrong}")
        except (TypeError, ValueError, BufferError) as error:
            expect(rank == 0, repr(error))
        except MPI.Exception as error:
            expect(rank > 0 and error.Get_error_class() == MPI.ERR_OTHER, repr(error))
for far in ([2**32], [0.0], np.array([2**32])):
    try:
        shoal.exchange(world, [data, 1], far)
        expect(False, "no error for a rank that there is not")
    except (OverflowError, TypeError):
        pass
pairs = MPI.DOUBLE.Create_contiguous(2).Commit()
open_one = shoal.iexchange(world, [data, 3, pairs], [rank])
pairs.Free()
for came in (open_one.arrivals(), open_one.arrivals()):
    expect((came.data.view(float) == data[:6]).all() and came.counts[0] == 3, "of a type that is freed meanwhile")

shoal.set_algorithm(world, alltoall="tuna:radix=2")
same("alltoall", [data, 3, MPI.DOUBLE], lambda b: [b, 3, "d"])
expect(shoal.explain(world) == "tuna:radix=2: asked for", shoal.explain(world))

# Displacements beyond 32 bits, counted from an address far below the blocks. Open MPI's own functions cannot take them.
shoal.set_algorithm(world, alltoallv="tuna:radix=2")
far = 2**32


def far_below(array):
    return [MPI.buffer.fromaddress(array.ctypes.data - 8 * far, 8), [1] * ranks, [far + i for i in range(ranks)], "d"]


for how in (shoal.ialltoallv, shoal.alltoallv_init) if ranks > 1 else ():
    into[:] = -1
    open_one = how(world, far_below(data), far_below(into))
    if how is shoal.alltoallv_init:
        open_one.start()
    open_one.wait()
    expect((into == 1000 * np.arange(ranks) + rank).all(), f"{how} of blocks far away")
    if how is shoal.alltoallv_init:
        open_one.free()

half.Free()
faults = world.allreduce(faults)
world.Free()
if rank == 0:
    print(f"faults: {faults}")
