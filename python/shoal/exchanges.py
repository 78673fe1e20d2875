"""All-to-all exchanges between the ranks of mpi4py's communicators, of buffers as mpi4py takes them.

The exchanges are those of shoal.h, in the library that the preload loads too. The library uses the MPI that mpi4py has
loaded. Errors raise mpi4py's MPI.Exception, if the communicator's error handler returns them. A buffer that mpi4py
refuses is refused before anything is sent. If only one rank gives such a buffer, the others wait for it, as in mpi4py's
functions.
"""

import ctypes
import functools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal.buffers import INT, Side, Spec, handle, neighbor_side, numbers, of_blocks, pointer, side
from shoal.mpi import ABIS, preload_for, soname

if TYPE_CHECKING:
    from mpi4py import MPI

Integers = Sequence[int] | npt.NDArray[Any]


@functools.cache
def library() -> ctypes.CDLL:
    """Shoal's library for this program's MPI; under the preload, the library that is loaded already."""
    for mpi in loaded_mpis():
        found = preloaded() or (library_for(ABIS[soname(mpi)]) if soname(mpi) in ABIS else None)
        if found and found.is_file():
            ctypes.CDLL(str(mpi), mode=os.RTLD_NOLOAD | os.RTLD_GLOBAL)  # so that Shoal's library can use it
            return ctypes.CDLL(str(found), mode=os.RTLD_NOW)
    seen = ", ".join(map(str, loaded_mpis())) or "none"
    raise ImportError(f"there is no Shoal library for the MPI that mpi4py has loaded: {seen}; see `shoal doctor`")


def loaded_mpis() -> list[Path]:
    from mpi4py import MPI  # noqa: F401  loads the MPI

    return mapped(r"libmpi(?:ch|_abi)?\.so\.[\d.]+")


def library_for(abi: str) -> Path:
    return preload_for(abi).with_name("libshoal-drop-in.so")


def preloaded() -> Path | None:
    """The library that the preload has loaded, or will load. It may belong to another installation of Shoal."""
    if found := mapped(r"libshoal-drop-in\.so"):
        return found[0]
    preloads = mapped(r"libshoal-preload\.so")
    return preloads[0].with_name("libshoal-drop-in.so") if len(preloads) == 1 else None


def mapped(name: str) -> list[Path]:
    """Files of this name that the process has loaded."""
    maps = os.fsdecode(Path("/proc/self/maps").read_bytes())
    return [Path(one) for one in sorted(set(re.findall(rf"/.*/{name}$", maps, re.MULTILINE)))]


def call(name: str, *arguments: Any) -> None:
    """Calls a function of shoal.h; an error code of MPI becomes an exception."""
    require_success(code_of(name, *arguments))


def code_of(name: str, *arguments: Any) -> int:
    """What a function of shoal.h returns. Handles and addresses are words for C."""
    words = [ctypes.c_void_p(one) if isinstance(one, int) else one for one in arguments]
    return int(getattr(library(), name)(*words))


def require_success(code: int) -> None:
    if code:
        from mpi4py import MPI

        raise MPI.Exception(code)


def alltoall(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec) -> None:
    """MPI_Alltoall: `[buffer, count, type]`, as comm.Alltoall takes them; sendbuf may be MPI.IN_PLACE."""
    blocking(comm, sendbuf, recvbuf, "")


def alltoallv(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec) -> None:
    """MPI_Alltoallv: `[buffer, counts, displs, type]`, as comm.Alltoallv takes them; sendbuf may be MPI.IN_PLACE."""
    blocking(comm, sendbuf, recvbuf, "v")


def alltoallw(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec) -> None:
    """MPI_Alltoallw: `[buffer, counts, displs, types]`, as comm.Alltoallw takes them, displacements in bytes."""
    blocking(comm, sendbuf, recvbuf, "w")


def sides(comm: "MPI.Comm", send: Spec, recv: Spec, form: str) -> list[Side]:
    received = side(comm, recv, form, True)
    return [side(comm, send, form, False), received]


def words(both: list[Side]) -> list[int]:
    return [word for one in both for word in one.words]


def blocking(comm: "MPI.Comm", send: Spec, recv: Spec, form: str) -> None:
    both = sides(comm, send, recv, form)
    call(f"shoal_alltoall{form}_c", *words(both), handle(comm))


def neighbor_alltoall(comm: "MPI.Topocomm", sendbuf: Spec, recvbuf: Spec) -> None:
    """MPI_Neighbor_alltoall on a grid or graph: `[buffer, count, type]`, as comm.Neighbor_alltoall takes them."""
    among_neighbors(comm, sendbuf, recvbuf, "")


def neighbor_alltoallv(comm: "MPI.Topocomm", sendbuf: Spec, recvbuf: Spec) -> None:
    """MPI_Neighbor_alltoallv: `[buffer, counts, displs, type]`, as comm.Neighbor_alltoallv takes them."""
    among_neighbors(comm, sendbuf, recvbuf, "v")


def neighbor_alltoallw(comm: "MPI.Topocomm", sendbuf: Spec, recvbuf: Spec) -> None:
    """MPI_Neighbor_alltoallw: `[buffer, counts, displs, types]`, as comm.Neighbor_alltoallw takes them."""
    among_neighbors(comm, sendbuf, recvbuf, "w")


def among_neighbors(comm: "MPI.Topocomm", send: Spec, recv: Spec, form: str) -> None:
    if not hasattr(comm, "outdegree"):
        raise TypeError("the communicator has no neighbours; make one that has, as in comm.Create_cart([comm.size])")
    both = [neighbor_side(comm, send, form, False), neighbor_side(comm, recv, form, True)]
    call(f"shoal_neighbor_alltoall{form}", *words(both), handle(comm))


class Request:
    """An exchange that is under way, or ready to be started. It keeps its buffers alive, even if the program drops the
    request while the exchange is under way.

    The handler of a signal may raise an exception at any place: while a function of C runs, which then has done its
    work, or beside it. So a request counts as under way from before its start until C has said that it has ended."""

    def __init__(self, name: str, arguments: Sequence[Any], keeps: Any, is_repeated: bool) -> None:
        self._data = ctypes.c_void_p()
        self._keeps = keeps
        self._is_repeated = is_repeated
        try:
            if not is_repeated:
                under_way.add(self)
            call(name, *arguments, ctypes.byref(self._data))
        finally:
            if not self._data:
                under_way.discard(self)

    def start(self) -> None:
        """Start a persistent exchange that is not running."""
        was_idle = self not in under_way
        under_way.add(self)
        code = code_of("shoal_start", self._data)
        if code and was_idle:
            under_way.discard(self)
        require_success(code)

    def test(self) -> bool:
        """Make progress; return True if the exchange has ended."""
        flag = ctypes.c_int(0)
        try:
            call("shoal_test", ctypes.byref(self._data), ctypes.byref(flag))
        finally:
            if flag.value:  # after an error too
                under_way.discard(self)
        return bool(flag.value)

    def wait(self) -> None:
        """Wait until the exchange has ended."""
        code = code_of("shoal_wait", ctypes.byref(self._data))
        under_way.discard(self)
        require_success(code)

    def free(self) -> None:
        """Free a persistent exchange that is not running, before MPI_Finalize."""
        call("shoal_request_free", ctypes.byref(self._data))

    def __enter__(self) -> "Request":
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        """Frees a persistent exchange, unless an error of the program has left it under way: then only that error is
        raised."""
        if self._is_repeated and self._data and not (failed and self in under_way):
            self.free()


under_way: set[Request] = set()


def ialltoall(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec) -> Request:
    """Start alltoall()."""
    return begun(comm, sendbuf, recvbuf, "")


def ialltoallv(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec) -> Request:
    """Start alltoallv()."""
    return begun(comm, sendbuf, recvbuf, "v")


def ialltoallw(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec) -> Request:
    """Start alltoallw()."""
    return begun(comm, sendbuf, recvbuf, "w")


def begun(comm: "MPI.Comm", send: Spec, recv: Spec, form: str) -> Request:
    both = sides(comm, send, recv, form)
    return Request(f"shoal_ialltoall{form}_c", [*words(both), handle(comm)], both, False)


def alltoall_init(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec, info: "MPI.Info | None" = None) -> Request:
    """Prepare alltoall(), to be started any number of times. Collective."""
    return prepared(comm, sendbuf, recvbuf, "", info)


def alltoallv_init(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec, info: "MPI.Info | None" = None) -> Request:
    """Prepare alltoallv(), to be started any number of times. Collective."""
    return prepared(comm, sendbuf, recvbuf, "v", info)


def alltoallw_init(comm: "MPI.Comm", sendbuf: Spec, recvbuf: Spec, info: "MPI.Info | None" = None) -> Request:
    """Prepare alltoallw(), to be started any number of times. Collective."""
    return prepared(comm, sendbuf, recvbuf, "w", info)


def prepared(comm: "MPI.Comm", send: Spec, recv: Spec, form: str, info: "MPI.Info | None") -> Request:
    from mpi4py import MPI

    both = sides(comm, send, recv, form)
    arguments = [*words(both), handle(comm), handle(MPI.INFO_NULL if info is None else info)]
    return Request(f"shoal_alltoall{form}_init_c", arguments, both, True)


class ArrivalsOfC(ctypes.Structure):
    """The struct shoal_arrivals of shoal.h."""

    _fields_ = (
        ("blocks", ctypes.c_int),
        ("sources", ctypes.POINTER(ctypes.c_int)),
        ("counts", ctypes.POINTER(ctypes.c_int64)),
        ("displs", ctypes.POINTER(ctypes.c_int64)),
        ("data", ctypes.c_void_p),
    )


class Arrivals:
    """What arrived in an exchange(): blocks in the order of the ranks that sent them. Use it as in
    `for source, block in arrivals`."""

    def __init__(self, came: Any, kind: np.dtype[Any], step: int) -> None:
        try:
            found, blocks = came.contents, came.contents.blocks
            self.sources: npt.NDArray[np.intc] = copied(found.sources, blocks, np.intc)
            self.counts: npt.NDArray[np.int64] = copied(found.counts, blocks, np.int64)
            self.displs: npt.NDArray[np.int64] = copied(found.displs, blocks, np.int64)
            # All blocks, one after another. If an element has several numbers, or gaps, these are its numbers or bytes.
            self.data: npt.NDArray[Any] = copied(found.data, int(self.counts.sum()) * step, kind)
            self._step = step
        finally:
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
    """The NumPy type in which elements of this datatype arrive; bytes if NumPy has no such type."""
    try:
        kind = np.dtype(datatype.tocode()) if datatype.is_predefined else np.dtype(np.uint8)
    except (TypeError, ValueError):
        return np.dtype(np.uint8)
    return kind if kind.itemsize else np.dtype(np.uint8)  # a text of NumPy has no size of its own


class StartedExchange(Request):
    """An iexchange() under way. If its arguments are wrong, this rank takes part all the same, so that no other waits
    for it; then no rank receives anything."""

    def __init__(self, comm: "MPI.Comm", sendbuf: Spec, destinations: Integers) -> None:
        self._came = ctypes.POINTER(ArrivalsOfC)()
        self._arrived: Arrivals | None = None
        self._wrong: Exception | None = None
        keeps = None
        try:
            keeps, arguments = self._described(sendbuf, destinations)
        except Exception as wrong:
            self._wrong = wrong
            arguments = nothing_right()
        super().__init__("shoal_iexchange", [*arguments, handle(comm), ctypes.byref(self._came)], keeps, False)

    def _described(self, sendbuf: Spec, destinations: Integers) -> tuple[Any, list[int]]:
        sent, to = of_blocks(sendbuf, len(destinations), False), numbers(destinations, len(destinations), INT)
        self._kind = element_of(sent.type)
        self._step = sent.type.size // self._kind.itemsize
        return (sent, to), [len(to), pointer(to), *sent.words]

    def test(self) -> bool:
        return bool(self._taking(super().test))

    def wait(self) -> None:
        self._taking(super().wait)

    def _taking(self, end: Callable[[], Any]) -> Any:
        """Calls `end`, and takes what has arrived if this ended the request."""
        from mpi4py import MPI

        try:
            ended = end()
        except MPI.Exception as error:
            raise self._wrong or error from None
        if self._came:
            self._arrived = Arrivals(self._came, self._kind, self._step)
        return ended

    def arrivals(self) -> Arrivals:
        """Wait until the exchange has ended, and return what arrived."""
        self.wait()
        if self._arrived is None:
            raise RuntimeError("the exchange has failed, and nothing arrived")
        return self._arrived


def nothing_right() -> list[int]:
    """Invalid arguments, so that all ranks see an error."""
    from mpi4py import MPI

    return [-1, 0, 0, 0, 0, handle(MPI.BYTE)]


def exchange(comm: "MPI.Comm", sendbuf: Spec, destinations: Integers) -> Arrivals:
    """Send block i of `[buffer, counts, displs, type]` to rank destinations[i], and return what arrives. No rank has
    to know who sends to it, nor how much. Every rank calls it, even if it sends nothing. Wrong arguments of one rank
    are an error on all ranks."""
    return iexchange(comm, sendbuf, destinations).arrivals()


def iexchange(comm: "MPI.Comm", sendbuf: Spec, destinations: Integers) -> StartedExchange:
    """Start exchange(); arrivals() of the result ends it."""
    return StartedExchange(comm, sendbuf, destinations)


def set_algorithm(comm: "MPI.Comm", **specs: str) -> None:
    """Name the algorithm for later calls of `alltoall`, `alltoallv` or `alltoallw`, as in `set_algorithm(comm,
    alltoallv="tuna:radix=8")`; on an inter-communicator, of `allgather` or `allgatherv`. Other names change nothing.
    "auto" lets Shoal choose again. Collective."""
    from mpi4py import MPI

    info = MPI.Info.Create()
    try:
        for name, spec in specs.items():
            info.Set(f"shoal_{name}", spec)
        call("shoal_comm_set_info", handle(comm), handle(info))
    finally:
        info.Free()


def explain(comm: "MPI.Comm") -> str:
    """Tell which algorithm ran last on a communicator, and why."""
    text = ctypes.create_string_buffer(1000)
    call("shoal_comm_explain", handle(comm), text, len(text))
    return text.value.decode()
