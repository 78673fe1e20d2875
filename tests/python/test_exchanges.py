"""The requests of shoal.exchanges: what they keep alive, with a library in place of Shoal's that needs no MPI."""

import gc
import mmap
import os
import sys
import types
import weakref

import numpy as np
import pytest

from shoal import exchanges

UNDER_WAY = 1  # any number that is no null


class Buffer:
    pass


class MpiError(Exception):  # in place of mpi4py's
    pass


class Library:
    """Functions of shoal.h. An exchange goes on until `has_ended`. A handler of a signal raises KeyboardInterrupt
    before or after the work of the function `interrupted`."""

    def __init__(self):
        self.has_ended = self.interrupted_before = False
        self.interrupted = self.failing = None

    def __getattr__(self, name):
        def function(*words):
            if name == self.interrupted and self.interrupted_before:
                raise KeyboardInterrupt
            code = 1 if name == self.failing else self.work(name, *(getattr(one, "_obj", one) for one in words))
            if name == self.interrupted:
                raise KeyboardInterrupt
            return code

        return function

    def work(self, name, request, flag=None):
        if name == "shoal_test":
            flag.value = self.has_ended
        if "alltoall" in name:
            request.value = UNDER_WAY
        return 0


@pytest.fixture
def library(monkeypatch):
    fake = Library()
    mpi = types.SimpleNamespace(MPI=types.SimpleNamespace(Exception=MpiError))
    monkeypatch.setitem(sys.modules, "mpi4py", mpi)
    monkeypatch.setattr(exchanges, "library", lambda: fake)
    monkeypatch.setattr(exchanges, "under_way", set())
    return fake


def interrupt(library, name, *, before):
    library.interrupted, library.interrupted_before = name, before


def started(is_repeated=False):
    """A request, and whether its buffer lives once nobody has the request."""
    buffer = Buffer()
    return exchanges.Request("shoal_ialltoall_c", [], buffer, is_repeated), weakref.ref(buffer)


@pytest.mark.parametrize("before", [True, False])
def test_start_of_a_nonblocking_exchange(library, before):
    """It keeps its buffer if it has begun when a signal interrupts it."""
    interrupt(library, "shoal_ialltoall_c", before=before)
    buffer = Buffer()
    lives = weakref.ref(buffer)
    with pytest.raises(KeyboardInterrupt):
        exchanges.Request("shoal_ialltoall_c", [], buffer, False)
    del buffer
    gc.collect()
    assert (lives() is None) == before


@pytest.mark.parametrize(("name", "before"), [("test", True), ("test", False), ("wait", True)])
@pytest.mark.parametrize("is_repeated", [True, False])
def test_interrupted_test_and_wait(library, name, before, is_repeated):
    """A request keeps its buffer until its exchange has ended."""
    request, lives = started(is_repeated)
    if is_repeated:
        request.start()
    interrupt(library, f"shoal_{name}", before=before)
    with pytest.raises(KeyboardInterrupt):
        getattr(request, name)()
    del request
    gc.collect()
    assert lives() is not None


def test_ended_exchange_keeps_nothing(library):
    request, lives = started()
    library.has_ended = True
    interrupt(library, "shoal_test", before=False)
    with pytest.raises(KeyboardInterrupt):
        request.test()
    del request
    gc.collect()
    assert lives() is None


def test_interrupted_start_of_a_persistent_exchange(library):
    request, lives = started(is_repeated=True)
    interrupt(library, "shoal_start", before=False)
    with pytest.raises(KeyboardInterrupt):
        request.start()
    del request
    gc.collect()
    assert lives() is not None


@pytest.mark.parametrize("is_under_way", [True, False])
def test_refused_start_changes_nothing(library, is_under_way):
    request, lives = started(is_repeated=True)
    if is_under_way:
        request.start()
    library.failing = "shoal_start"
    with pytest.raises(MpiError):
        request.start()
    del request
    gc.collect()
    assert (lives() is not None) == is_under_way


def test_failed_wait_keeps_nothing(library):
    request, lives = started()
    library.failing = "shoal_wait"
    with pytest.raises(MpiError):
        request.wait()
    del request
    gc.collect()
    assert lives() is None


@pytest.mark.parametrize("name", [b"with space", b"Latin-1 \xe9"])
def test_mapped_files_in_folders_of_any_name(tmp_path, name):
    (tmp_path / os.fsdecode(name)).mkdir()
    file = tmp_path / os.fsdecode(name) / "libmpi.so.12"
    file.write_text("library")
    with file.open() as opened, mmap.mmap(opened.fileno(), 1, prot=mmap.PROT_READ):
        assert exchanges.mapped(r"libmpi\.so\.12") == [file]


@pytest.mark.parametrize(("code", "expected"), [("U", "u1"), ("f", "f4"), (None, "u1")])
def test_elements_that_numpy_has_no_size_for_arrive_as_bytes(code, expected):
    """As those of MPI.WCHAR."""

    def tocode():
        if code is None:
            raise ValueError("no such type")
        return code

    datatype = types.SimpleNamespace(is_predefined=True, tocode=tocode)
    assert exchanges.element_of(datatype) == np.dtype(expected)
