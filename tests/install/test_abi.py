"""The interface that programs were linked to stays: it is compared with the list of the last release.

The number in the list's name is the SOVERSION. Add a new declaration to the list. A declaration that changes or goes
breaks programs, and needs a new SOVERSION with a list of its own.
"""

import re
import subprocess

import pytest

import mpis

LIST = mpis.ROOT / "tests/golden/abi_0.txt"
BUILT = [mpi for mpi in [*mpis.WHEELS, mpis.STANDARD, *mpis.DEBIAN] if not mpi.missing()]


def declarations():
    """What the header declares and what the Fortran module calls, each on a line."""
    header = (mpis.ROOT / "include/shoal/shoal.h").read_text()
    header = re.sub(r"/\*.*?\*/|^#.*?$", "", header, flags=re.DOTALL | re.MULTILINE)
    declared = re.findall(r"(?:typedef|SHOAL_PUBLIC) [^;{]*(?:{[^}]*}[^;]*)?;", header)
    fortran = re.sub(r"#(?:include|pragma).*", "", (mpis.ROOT / "src/api/fortran.cpp").read_text())
    expanded = subprocess.run(["cpp", "-P"], input=fortran, capture_output=True, text=True, check=True).stdout
    declared += [f"{text};" for text in re.findall(r"\b(?:void|int) shoal_\w+_f\b[^{=]*", expanded)]
    return sorted(" ".join(one.replace("SHOAL_PUBLIC", "").split()).replace(" ;", ";") for one in declared)


def exported(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines()}


def test_declarations_are_those_that_are_kept():
    assert declarations() == LIST.read_text().splitlines()


def test_nothing_is_thrown_through_any_of_them():
    """The test of that calls each of them."""
    called = (mpis.ROOT / "tests/mpi/boundary_test.cpp").read_text().partition("every_function_of_c() {")[2]
    functions = re.findall(r"(?:int|void) (shoal_\w+)\(", LIST.read_text())
    assert len(functions) > 40 and [one for one in functions if not re.search(rf"\b{one}\b", called)] == []


def test_fortran_has_every_function_of_c():
    listed = set(re.findall(r"(?:int|void) (shoal_\w+)\(", LIST.read_text()))
    module = (mpis.ROOT / "include/shoal/shoal.f90").read_text()
    called = set(re.findall(r'\bsubroutine [^"]* bind\(c, name="(shoal_\w+)"\)', module))
    assert called == {name for name in listed if name.endswith("_f")}
    assert {name.removesuffix("_f") for name in called} == listed - called


def test_soversion_is_the_lists():
    built = BUILT or pytest.skip("nothing is built")
    dynamic = subprocess.run(["readelf", "-d", built[0].build / "libshoal.so"], capture_output=True, text=True).stdout
    assert f"[libshoal.so.{LIST.stem.removeprefix('abi_')}]" in dynamic


def own_names(mpi):
    """Shoal's own functions."""
    names = {re.search(r"shoal_\w+(?=\(|;)", line).group() for line in LIST.read_text().splitlines()}
    types = {"shoal_request", "shoal_arrivals"}
    return {name for name in names - types if mpi != mpis.STANDARD or not name.endswith("_f")}


@pytest.mark.parametrize("mpi", BUILT, ids=lambda mpi: mpi.name)
def test_library_exports_what_is_declared(mpi):
    """The standard ABI has no handles for Fortran."""
    assert exported(mpi.build / "libshoal.so") == own_names(mpi)


FAMILY = {
    f"{start}alltoall{form}{end}"
    for form in ("", "v", "w")
    for start in ("", "neighbor_", "i", "ineighbor_")
    for end in (("",) if start.startswith("i") else ("", "_init"))
}


REQUESTS = ["start", "startall", "request_free"]
DELETES = ["comm_free", "comm_disconnect", "finalize"]
NOTED = ["buffer_attach", "comm_idup", "comm_idup_with_info", "init", "init_thread"]  # on Open MPI
HANDLES_ALONE = {*REQUESTS, *DELETES}


def names_of(calls, mpi):
    """The names of these calls in C, and those in Fortran that do not call the names in C.

    These are Open MPI's, and in MPICH's `use mpi_f08` those of calls that take nothing but handles.
    """
    names = {
        f"MPI_{call.capitalize()}{wide}"
        for call in calls
        for wide in ("", "_c")
        if call not in {*HANDLES_ALONE, *NOTED} or not wide
    }
    if "openmpi" in mpi.name:
        names |= {f"mpi_{call}{end}" for call in calls for end in ("", "_", "__")}
        names |= {f"MPI_{call.upper()}" for call in calls} | {f"ompi_{call}_f" for call in calls}
    elif mpi != mpis.STANDARD:
        names |= {f"mpi_{call}_f08_" for call in HANDLES_ALONE.intersection(calls)}
    return names


@pytest.mark.parametrize("mpi", BUILT, ids=lambda mpi: mpi.name)
def test_preload_exports_the_calls_it_takes(mpi):
    """The library that serves them has the same, the functions that the preload calls, and Shoal's own for Python."""
    taken = names_of(FAMILY.union(["allgather", "allgatherv"], REQUESTS), mpi)
    if "openmpi" not in mpi.name:
        taken |= {"MPIX_Stream_comm_create", "MPIX_Stream_comm_create_multiplex"}
    noted = {"MPI_Comm_create_errhandler", "MPI_Errhandler_create"}
    if "openmpi" in mpi.name:
        noted |= names_of(NOTED, mpi)
    if "mpich" in mpi.name:
        noted.add("mpi_comm_create_errhandler_f08_")
    assert exported(mpi.preload) == taken | names_of(DELETES, mpi) | noted
    notes = ("note_buffer", "note_duplicate", "watch_handlers", "show_passing")
    tells = ("has_started", "delete", "report_nothing", *notes)
    told = {f"shoal_preload_{what}" for what in tells}
    if "openmpi" in mpi.name:
        told |= {f"shoal_preload_{what}_in_fortran" for what in ("delete", "note_duplicate")}
    assert exported(mpi.preload.with_name("libshoal-drop-in.so")) == taken | told | own_names(mpi)
