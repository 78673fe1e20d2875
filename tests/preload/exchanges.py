"""shoal's exchanges of mpi4py's buffers, against mpi4py's own with the same arguments. Prints the number of faults."""

import numpy as np
from mpi4py import MPI

import shoal

world = MPI.COMM_WORLD.Dup()
rank, ranks = world.rank, world.size
faults = 0


def expect(holds, what):
    global faults
    if not holds:
        faults += 1
        print(f"rank {rank}: {what}", flush=True)


def same(name, send, receive):
    """`receive(buffer)` describes the receive buffer."""
    got, expected = np.full(200, -1.0), np.full(200, -1.0)
    getattr(shoal, name)(world, send, receive(got))
    getattr(world, name.capitalize())(send, receive(expected))
    expect((got == expected).all(), f"{name} of {send}")


data = rank * 1000 + np.arange(100.0)
counts = [1 + (rank + i) % 3 for i in range(ranks)]
comes = [1 + (i + rank) % 3 for i in range(ranks)]
places = [5 * i for i in range(ranks)]
half = MPI.DOUBLE.Create_vector(2, 1, 3).Commit()
for send, receive in [
    (data[: 4 * ranks], lambda b: b[: 4 * ranks]),
    ([data, 3, MPI.DOUBLE], lambda b: [b, 3, "d"]),
    ([data, 1, half], lambda b: [b, 2, MPI.DOUBLE]),
]:
    same("alltoall", send, receive)
for send, receive in [
    ([data, counts], lambda b: [b, comes]),
    ([data, (counts, places)], lambda b: [b, (comes, places), MPI.DOUBLE]),
    ([data, counts, places, MPI.DOUBLE], lambda b: [b, np.array(comes), np.array(places), "d"]),
    (data[: 2 * ranks], lambda b: b[: 2 * ranks]),
]:
    same("alltoallv", send, receive)
bytes_at = [8 * place for place in places]
same(
    "alltoallw",
    [data, counts, bytes_at, [MPI.DOUBLE] * ranks],
    lambda b: [b, (comes, bytes_at), [MPI.DOUBLE] * ranks],
)

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
with shoal.alltoallv_init(world, out, into) as repeated, shoal.alltoall_init(world, out, into) as other:
    for turn in range(5):
        for one in (repeated, other):
            out[:], into[:] = rank + turn * 1000 + np.arange(ranks) * 10, -1
            one.start()
            one.wait()
            expect((into == np.arange(ranks) + turn * 1000 + 10 * rank).all(), "persistent")

# To the next rank twice, to this one nothing, and to the first.
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
shoal.set_algorithm(world, alltoall="tuna:radix=2")
same("alltoall", [data, 3, MPI.DOUBLE], lambda b: [b, 3, "d"])
expect(shoal.explain(world) == "tuna:radix=2: asked for", shoal.explain(world))

half.Free()
faults = world.allreduce(faults)
world.Free()
if rank == 0:
    print(f"faults: {faults}")
