"""Buffers as mpi4py takes them.

What mpi4py's functions accept means the same here. What they refuse is refused here too, before anything is sent.
"""

import itertools
from array import array
from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mpi4py import MPI

Spec = Any  # a buffer, or a list that begins with one, such as [buffer, counts, displs, type]
INT, INT64 = "i", "q"  # type codes of Python's arrays


def handle(of: Any) -> int:
    """The MPI handle of an mpi4py object, as an integer."""
    from mpi4py import MPI

    bits = 8 * MPI._sizeof(MPI.Comm)
    return int(MPI._handleof(of) & (1 << bits) - 1)


class Memory:
    """The memory of a buffer that an exchange reads or writes. This object keeps the buffer alive."""

    def __init__(self, data: Any, writes: bool) -> None:
        from mpi4py import MPI

        self.address, self.nbytes, self.kept = int(MPI.BOTTOM), 0, None
        if data is None or data is MPI.BOTTOM:
            return
        self.kept = exported(data, writes)
        if not self.kept.contiguous:
            raise BufferError("the buffer is not contiguous")
        if writes and self.kept.readonly:
            raise BufferError("the receive buffer is read-only")
        self.address, self.nbytes = MPI.Get_address(self.kept), self.kept.nbytes

    def elements(self, kind: "MPI.Datatype", behind: int = 0) -> int:
        """How many elements of this type the memory holds, without the first `behind` elements."""
        if not self.nbytes:
            return 0
        if kind.extent <= 0:
            raise ValueError(f"elements with an extent of {kind.extent} bytes cannot be counted; give the count")
        if self.nbytes % kind.extent:
            raise ValueError(
                f"a buffer of {self.nbytes} bytes is not a whole number of elements of {kind.extent} bytes"
            )
        return int(self.nbytes // kind.extent) - behind


def exported(data: Any, writes: bool) -> memoryview:
    """A view of the buffer. If Python's buffer protocol gives none, as for memory of devices, it is a view of bytes."""
    from mpi4py import MPI

    try:
        return memoryview(data)
    except (TypeError, ValueError, BufferError):
        bytes_of: Any = MPI.buffer.frombuffer(data, readonly=not writes)
        return memoryview(bytes_of)


def format_of(data: Any) -> str:
    """The type code of the buffer's elements."""
    try:
        code = memoryview(data).format
    except TypeError:
        interface = getattr(data, "__cuda_array_interface__", None)
        code = (np.dtype(interface["typestr"]) if interface else np.from_dlpack(data).dtype).char
    native = "@<" if np.little_endian else "@>"
    if code[0] in "<>" and code[0] not in native:
        raise BufferError(f"elements of {code!r} have the byte order of another machine")
    return code.lstrip(native)


def type_of(data: Any, given: Any) -> "MPI.Datatype":
    """The datatype that is given, as an object or a type code; if none is given, that of the buffer's elements."""
    from mpi4py import MPI

    if isinstance(given, MPI.Datatype):
        return given
    if given is None and (data is None or data is MPI.BOTTOM):
        raise TypeError("a buffer without an address needs a type")
    if not isinstance(given, str | None):
        raise TypeError(f"not an MPI datatype: {given!r}")
    return MPI.Datatype.fromcode(format_of(data) if given is None else given)


class Side:
    """What is sent, or received, as the words that C's functions take. It keeps alive what the words point to."""

    def __init__(self, words: list[int], keeps: Any, kind: Any = None) -> None:
        self.words, self.keeps, self.type = words, keeps, kind


def neighbor_side(comm: "MPI.Topocomm", spec: Spec, form: str, writes: bool) -> Side:
    """One side of a call of this form among neighbours. C's functions for these calls take int, except for
    displacements in bytes, which have 64 bits."""
    blocks = comm.indegree if writes else comm.outdegree
    return DESCRIBED[form](spec, blocks, writes, INT)


def side(comm: "MPI.Comm", spec: Spec, form: str, writes: bool) -> Side:
    """One side of a call on the communicator, of this form: "", "v" or "w"."""
    from mpi4py import MPI

    blocks = comm.Get_remote_size() if isinstance(comm, MPI.Intercomm) else comm.Get_size()
    if (spec is None or spec is MPI.IN_PLACE) and not writes and not comm.Is_inter():
        none = handle(MPI.DATATYPE_NULL)
        return Side([int(MPI.IN_PLACE) % 2**64, *{"": [0, none], "v": [0, 0, none], "w": [0, 0, 0]}[form]], None)
    return DESCRIBED[form](spec, blocks, writes)


def of_equal_blocks(spec: Spec, blocks: int, writes: bool, integers: str = INT64) -> Side:
    """`buffer`, `[buffer, count, type]`, `[buffer, (count, displ), type]`, `[buffer, count, displ, type]`."""
    data, count, displ, given = parts(spec, list | tuple)
    memory = Memory(data, writes)
    kind = type_of(data, given)
    first = 0 if displ is None else index(displ)
    extent = kind.extent if first else 0
    if first < 0 or first * extent > memory.nbytes or (first and extent <= 0):
        raise ValueError(f"a displacement of {first} elements leads out of the buffer")
    each = share(memory.elements(kind, first), blocks) if count is None else index(count)
    if each < 0 or (each and data is None):
        raise ValueError(f"a count of {each} elements" + ("" if each < 0 else " without a buffer"))
    array(integers, [each])  # refuses a count that is too large
    return Side([memory.address + first * extent, each, handle(kind)], memory, kind)


def share(elements: int, blocks: int) -> int:
    if blocks > 1 and elements % blocks:
        raise ValueError(f"{elements} elements cannot be divided among {blocks} blocks; give the count")
    return elements // max(1, blocks)


def of_blocks(spec: Spec, blocks: int, writes: bool, integers: str = INT64) -> Side:
    """`buffer`, `[buffer, counts]`, `[buffer, (counts, displs), type]`, `[buffer, counts, displs, type]`. A single
    count is that of every block, a single displacement the distance between blocks."""
    data, counts, displs, given = parts(spec, tuple)
    memory = Memory(data, writes)
    kind = type_of(data, given)
    if counts is None:
        elements = memory.elements(kind)
        counts = [elements // blocks + (i < elements % blocks) for i in range(blocks)]
    counts = numbers([index(counts)] * blocks if is_one(counts) else counts, blocks, integers)
    if displs is None:
        displs = list(itertools.accumulate(counts, initial=0))[:blocks]
    displs = numbers([index(displs) * i for i in range(blocks)] if is_one(displs) else displs, blocks, integers)
    return Side([memory.address, pointer(counts), pointer(displs), handle(kind)], (memory, counts, displs), kind)


def of_typed_blocks(spec: Spec, blocks: int, writes: bool, integers: str = INT64) -> Side:
    """`[buffer, types]`, `[buffer, (counts, displs), types]`, `[buffer, counts, displs, types]`."""
    from mpi4py import MPI

    if not isinstance(spec, list | tuple) or not 2 <= len(spec) <= 4:
        raise TypeError("expected [buffer, counts, displs, types]")
    data, *more, types = spec
    counts, displs = more[0] if len(more) == 1 else more or (None, None)
    memory = Memory(data, writes)
    if counts is None and displs is None and memory.kept is not None:
        counts, displs = [1] * blocks, [0] * blocks
    counts, displs, types = numbers(counts, blocks, integers), numbers(displs, blocks), list(types)
    if len(types) != blocks or not all(isinstance(one, MPI.Datatype) for one in types):
        raise ValueError(f"expected {blocks} datatypes, one for each block")
    handles = array("Q" if MPI._sizeof(MPI.Datatype) == 8 else "I", map(handle, types))
    words = [memory.address, pointer(counts), pointer(displs), pointer(handles)]
    return Side(words, (memory, counts, displs, types, handles), types)


DESCRIBED = {"": of_equal_blocks, "v": of_blocks, "w": of_typed_blocks}


def parts(spec: Spec, pair: Any) -> tuple[Any, Any, Any, Any]:
    """Buffer, counts, displacements and type; None for each that the spec leaves out. `pair`: the Python types in which
    counts and displacements may come together."""
    from mpi4py import MPI

    if not isinstance(spec, list | tuple):
        if spec is None or spec is MPI.IN_PLACE or spec is MPI.BOTTOM:
            raise TypeError("expected a buffer, or [buffer, counts, displs, type]")
        return spec, None, None, None
    if not 2 <= len(spec) <= 4:
        raise ValueError(f"expected [buffer, counts, displs, type], of 2 to 4 items, not {len(spec)}")
    data, *more = spec
    if len(more) == 3:
        return data, *more
    kind = more.pop() if len(more) == 2 or isinstance(more[0], MPI.Datatype | str) else None
    counts, displs = (*more, None)[0], None
    if isinstance(counts, pair):
        counts, displs = counts
    return data, counts, displs, kind


def is_one(given: Any) -> bool:
    """Whether this is one integer, and not a sequence."""
    return hasattr(given, "__index__") and not np.ndim(given)


def numbers(given: Any, needed: int, kind: str = INT64) -> Sequence[int]:
    """The numbers as C takes them, one for each block."""
    if len(given) != needed:
        raise ValueError(f"expected {needed} numbers, one for each block, not {len(given)}")
    return array(kind, map(index, given))


def pointer(of: Any) -> int:
    return int(of.buffer_info()[0])
