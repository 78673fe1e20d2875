"""All-to-all exchanges between the ranks of mpi4py's communicators, of buffers as mpi4py takes them.

They are the functions of shoal.h, in the library that the preload loads too. It takes the MPI that mpi4py has loaded.
Errors are mpi4py's MPI.Exception, as the communicator's error handler has it.
"""

import ctypes
import functools
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal.mpi import ABIS, preload_for, soname

if TYPE_CHECKING:
    from mpi4py import MPI

Spec = Any  # a buffer, or a list of it and what mpi4py takes behind it
Integers = Sequence[int] | npt.NDArray[Any]


@functools.cache
def library() -> ctypes.CDLL:
    """The one of this program's MPI; under the preload the one that is loaded already."""
    for mpi in loaded_mpis():
        found = preloaded() or (library_for(ABIS[soname(mpi)]) if soname(mpi) in ABIS else None)
        if found and found.is_file():
            ctypes.CDLL(str(mpi), mode=os.RTLD_NOLOAD | os.RTLD_GLOBAL)  # so that what is loaded now sees it
            return ctypes.CDLL(str(found), mode=os.RTLD_NOW)
    seen = ", ".join(map(str, loaded_mpis())) or "none"
    raise ImportError(f"there is no Shoal library for the MPI that mpi4py has loaded: {seen}; see `shoal doctor`")


def loaded_mpis() -> list[Path]:
    from mpi4py import MPI  # noqa: F401  loads it

    return mapped(r"libmpi(?:ch|_abi)?\.so\.[\d.]+")


def library_for(abi: str) -> Path:
    return preload_for(abi).with_name("libshoal-drop-in.so")


def preloaded() -> Path | None:
    """The library that the preload has loaded, or will; it may be another installation's."""
    if found := mapped(r"libshoal-drop-in\.so"):
        return found[0]
    preloads = mapped(r"libshoal-preload\.so")
    return preloads[0].with_name("libshoal-drop-in.so") if len(preloads) == 1 else None


def mapped(name: str) -> list[Path]:
    """Files of this name that the process has loaded."""
    maps = Path("/proc/self/maps").read_text()
    return [Path(one) for one in sorted(set(re.findall(rf"/.*/{name}$", maps, re.MULTILINE)))]


def call(name: str, *arguments: Any) -> None:
    """Handles and addresses are words for C; MPI's own error code becomes an exception."""
    function = getattr(library(), name)
    words = [ctypes.c_void_p(one) if isinstance(one, int) else one for one in arguments]
    if code := function(*words):
        from mpi4py import MPI

        raise MPI.Exception(code)


def handle(of: Any) -> int:
    """MPI's own of mpi4py's object."""
    from mpi4py import MPI

    bits = 8 * MPI._sizeof(MPI.Comm)
    return int(MPI._handleof(of) & (1 << bits) - 1)


class Side:
    """What is sent, or received: an address, counts, displacements and datatypes for a number of blocks."""

    def __init__(self, spec: Spec, blocks: int, form: str, writes: bool, integer: npt.DTypeLike) -> None:
        from mpi4py import MPI

        self.counts = self.displs = np.zeros(blocks, integer)
        self.arrays: list[npt.NDArray[Any]] = []  # what a call names besides
        self.in_place = spec is None or spec is MPI.IN_PLACE
        self.type: Any = MPI.DATATYPE_NULL
        self.address = int(MPI.IN_PLACE) % 2**64
        if self.in_place:
            return
        data, *more = spec if isinstance(spec, list | tuple) else [spec]
        self.kept = MPI.buffer(b"" if data is MPI.BOTTOM else data)  # as long as this
        if writes and data is not MPI.BOTTOM and self.kept.readonly:
            raise BufferError("the receive buffer is read-only")
        self.address = 0 if data is MPI.BOTTOM else self.kept.address
        parts = more[:-1] if more and is_type(more[-1]) else more
        self.type = type_of(data, more[-1] if len(parts) < len(more) else None)
        counts, displs = split(parts)
        self.counts = numbers(self.inferred(blocks, form) if counts is None else counts, blocks, integer)
        before = np.concatenate([[0], np.cumsum(self.counts)[:-1]])[:blocks]
        self.displs = numbers(displs if displs is not None else 0 if form == "w" else before, blocks, integer)

    def inferred(self, blocks: int, form: str) -> int:
        """Elements of a block where nobody tells: of a type of its own one, else a share of the buffer."""
        if form == "w":
            return 1
        elements = self.kept.nbytes // max(1, self.type.extent)
        if blocks and elements % blocks:
            raise ValueError(f"{elements} elements are no whole number for each of {blocks} blocks; give the counts")
        return int(elements // blocks) if blocks else 0

    def types(self) -> int:
        """The handle of the type, or the address of those of all blocks."""
        from mpi4py import MPI

        if not isinstance(self.type, list):
            return handle(self.type)
        return self.pointer([handle(one) for one in self.type], f"u{MPI._sizeof(MPI.Datatype)}")

    def pointer(self, values: Any, kind: npt.DTypeLike) -> int:
        """To an array that stays as long as this."""
        self.arrays.append(np.ascontiguousarray(values, kind))
        return pointer(self.arrays[-1])


def is_type(what: Any) -> bool:
    from mpi4py import MPI

    several = isinstance(what, list | tuple) and len(what) > 0 and isinstance(what[0], MPI.Datatype)
    return several or isinstance(what, MPI.Datatype | str)


def type_of(data: Any, given: Any) -> Any:
    from mpi4py import MPI

    if isinstance(given, list | tuple):
        return list(given)
    if isinstance(given, MPI.Datatype):
        return given
    return MPI.Datatype.fromcode(given if isinstance(given, str) else np.asarray(data).dtype.char)


def split(parts: Sequence[Any]) -> tuple[Any, Any]:
    """Counts and displacements, of [], [counts], [counts, displs] or [(counts, displs)]."""
    if len(parts) == 1 and isinstance(parts[0], tuple) and len(parts[0]) == 2 and np.ndim(parts[0][0]):
        return parts[0]
    return (*parts, None, None)[:2]


def numbers(given: Any, blocks: int, integer: npt.DTypeLike) -> npt.NDArray[Any]:
    """One for each block; one for all."""
    return np.ascontiguousarray(np.broadcast_to(given, blocks), integer)


def pointer(of: npt.NDArray[Any]) -> int:
    return int(of.ctypes.data)


def peers(comm: "MPI.Comm") -> int:
    from mpi4py import MPI

    return comm.Get_remote_size() if isinstance(comm, MPI.Intercomm) else comm.Get_size()


def words(side: Side, form: str) -> list[Any]:
    """A side of a call, as the function of this form takes it: "", "v" or "w"."""
    if form:
        return [side.address, pointer(side.counts), pointer(side.displs), side.types()]
    return [side.address, int(side.counts[0]) if len(side.counts) else 0, side.types()]


def sides(comm: "MPI.Comm", send: Spec, recv: Spec, form: str, integer: npt.DTypeLike) -> list[Side]:
    blocks = peers(comm)
    return [Side(send, blocks, form, False, integer), Side(recv, blocks, form, True, integer)]


def alltoall(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec) -> None:
    """MPI_Alltoall: `[buffer, count, type]`, as comm.Alltoall takes them; sendbuf may be MPI.IN_PLACE."""
    blocking(comm, sendbuf, recvbuf, "")


def alltoallv(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec) -> None:
    """MPI_Alltoallv: `[buffer, counts, displs, type]`, as comm.Alltoallv takes them; sendbuf may be MPI.IN_PLACE."""
    blocking(comm, sendbuf, recvbuf, "v")


def alltoallw(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec) -> None:
    """MPI_Alltoallw: `[buffer, counts, displs, types]`, as comm.Alltoallw takes them, displacements in bytes."""
    blocking(comm, sendbuf, recvbuf, "w")


def blocking(comm: "MPI.Comm", send: Spec, recv: Spec, form: str) -> None:
    both = sides(comm, send, recv, form, np.int64)
    call(f"shoal_alltoall{form}_c", *(word for side in both for word in words(side, form)), handle(comm))


class Request:
    """An exchange under way, or ready to be started. It keeps its buffers."""

    def __init__(self, name: str, comm: "MPI.Comm", arguments: Sequence[Any], keeps: Any) -> None:
        self._data = ctypes.c_void_p()
        self._keeps = keeps
        self._is_repeated = name.endswith("_init")
        call(name, *arguments, ctypes.byref(self._data))

    def start(self) -> None:
        """Of a persistent one that is not under way."""
        call("shoal_start", self._data)

    def test(self) -> bool:
        """Moves it on; whether it has ended."""
        flag = ctypes.c_int()
        call("shoal_test", ctypes.byref(self._data), ctypes.byref(flag))
        return bool(flag.value)

    def wait(self) -> None:
        """Returns when it has ended."""
        call("shoal_wait", ctypes.byref(self._data))

    def free(self) -> None:
        """Of a persistent one that is not under way, before MPI_Finalize."""
        call("shoal_request_free", ctypes.byref(self._data))

    def __enter__(self) -> "Request":
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_repeated and self._data:
            self.free()


def ialltoall(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec) -> Request:
    """Starts alltoall()."""
    return begun(comm, sendbuf, recvbuf, "")


def ialltoallv(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec) -> Request:
    """Starts alltoallv()."""
    return begun(comm, sendbuf, recvbuf, "v")


def begun(comm: "MPI.Comm", send: Spec, recv: Spec, form: str) -> Request:
    both = sides(comm, send, recv, form, np.intc)
    arguments = [word for side in both for word in words(side, form)]
    return Request(f"shoal_ialltoall{form}", comm, [*arguments, handle(comm)], both)


def alltoall_init(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec, info: "MPI.Info | None" = None) -> Request:
    """Makes alltoall() ready, to be started any number of times. Collective."""
    return prepared(comm, sendbuf, recvbuf, "", info)


def alltoallv_init(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec, info: "MPI.Info | None" = None) -> Request:
    """Makes alltoallv() ready, to be started any number of times. Collective."""
    return prepared(comm, sendbuf, recvbuf, "v", info)


def prepared(comm: "MPI.Comm", send: Spec, recv: Spec, form: str, info: "MPI.Info | None") -> Request:
    from mpi4py import MPI

    both = sides(comm, send, recv, form, np.intc)
    arguments = [word for side in both for word in words(side, form)]
    with_info = [*arguments, handle(comm), handle(MPI.INFO_NULL if info is None else info)]
    return Request(f"shoal_alltoall{form}_init", comm, with_info, both)


class ArrivalsOfC(ctypes.Structure):
    """shoal_arrivals."""

    _fields_ = (
        ("blocks", ctypes.c_int),
        ("sources", ctypes.POINTER(ctypes.c_int)),
        ("counts", ctypes.POINTER(ctypes.c_int64)),
        ("displs", ctypes.POINTER(ctypes.c_int64)),
        ("data", ctypes.c_void_p),
    )


class Arrivals:
    """What came in an exchange(): blocks in the order of the ranks that sent them. `for source, block in arrivals`."""

    def __init__(self, came: Any, datatype: "MPI.Datatype") -> None:
        found, blocks = came.contents, came.contents.blocks
        self.sources: npt.NDArray[np.intc] = copied(found.sources, blocks, np.intc)
        self.counts: npt.NDArray[np.int64] = copied(found.counts, blocks, np.int64)
        self.displs: npt.NDArray[np.int64] = copied(found.displs, blocks, np.int64)
        kind = element_of(datatype)
        elements = int(self.counts.sum()) * (datatype.size // kind.itemsize)
        # All blocks one behind the other; of a type with several numbers, or with gaps, its numbers or bytes.
        self.data: npt.NDArray[Any] = copied(ctypes.cast(found.data, ctypes.POINTER(ctypes.c_byte)), elements, kind)
        self._step = datatype.size // kind.itemsize
        call("shoal_arrivals_free", ctypes.byref(came))

    def __len__(self) -> int:
        return len(self.sources)

    def __iter__(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        for source, count, at in zip(self.sources, self.counts, self.displs, strict=True):
            yield int(source), self.data[at * self._step : (at + count) * self._step]


def copied(pointer: Any, elements: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    own = np.empty(elements, kind)
    if elements:
        ctypes.memmove(own.ctypes.data, pointer, own.nbytes)
    return own


def element_of(datatype: "MPI.Datatype") -> np.dtype[Any]:
    """What arrives of one; bytes where NumPy has nothing like it."""
    try:
        return np.dtype(datatype.tocode()) if datatype.is_predefined else np.dtype(np.uint8)
    except (TypeError, ValueError):
        return np.dtype(np.uint8)


class StartedExchange(Request):
    """An iexchange() under way."""

    def __init__(self, comm: "MPI.Comm", sendbuf: Spec, destinations: Integers) -> None:
        self._came = ctypes.POINTER(ArrivalsOfC)()
        self._side, arguments = sparse(comm, sendbuf, destinations)
        super().__init__("shoal_iexchange", comm, [*arguments, ctypes.byref(self._came)], self._side)

    def arrivals(self) -> Arrivals:
        """What came; waits for it."""
        self.wait()
        return Arrivals(self._came, self._side.type)


def sparse(comm: "MPI.Comm", sendbuf: Spec, destinations: Integers) -> tuple[Side, list[Any]]:
    side = Side(sendbuf, len(destinations), "v", False, np.int64)
    return side, [len(destinations), side.pointer(destinations, np.intc), *words(side, "v"), handle(comm)]


def exchange(comm: "MPI.Comm", sendbuf: Spec, destinations: Integers) -> Arrivals:
    """Sends block i of `[buffer, counts, displs, type]` to rank destinations[i], and returns what came, whoever sent
    it: no rank has to know who sends to it, nor how much. Every rank calls it, also one that sends nothing."""
    came = ctypes.POINTER(ArrivalsOfC)()
    side, arguments = sparse(comm, sendbuf, destinations)
    call("shoal_exchange", *arguments, ctypes.byref(came))
    return Arrivals(came, side.type)


def iexchange(comm: "MPI.Comm", sendbuf: Spec, destinations: Integers) -> StartedExchange:
    """Starts exchange(); arrivals() of what it returns ends it."""
    return StartedExchange(comm, sendbuf, destinations)


def set_algorithm(comm: "MPI.Comm", **specs: str) -> None:
    """Which algorithm serves later calls: `set_algorithm(comm, alltoallv="tuna:radix=8")`; "auto" lets Shoal choose
    again. Collective."""
    from mpi4py import MPI

    info = MPI.Info.Create()
    for name, spec in specs.items():
        info.Set(f"shoal_{name}", spec)
    try:
        call("shoal_comm_set_info", handle(comm), handle(info))
    finally:
        info.Free()


def explain(comm: "MPI.Comm") -> str:
    """Which algorithm ran last on a communicator, and why."""
    text = ctypes.create_string_buffer(1000)
    call("shoal_comm_explain", handle(comm), text, len(text))
    return text.value.decode()
