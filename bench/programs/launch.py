"""One launch of a program: its command, what the program needs, and how long it took."""

import importlib.util
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from programs.cases import Case, Changed
from shoal.errors import UserError
from shoal.mpi import Mpi, find_all, launch_command, launch_environment

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INPUTS = ROOT / "tests/apps/programs"
HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
FFTW_MPI = Path("/usr/include/fftw3-mpi.h")
LIMIT = 600  # seconds that a program may take

# What is compiled for every MPI: its name, and its source and flags.
SOURCES = {
    "clock.so": (HERE / "clock.c", ["-shared", "-fPIC", "-ldl"]),
    "exchanges": (HERE / "exchanges.c", []),
    "groups": (HERE / "groups.c", []),
    "halo": (HERE / "halo.c", []),
    "transpose": (INPUTS / "transpose.c", ["-lfftw3_mpi", "-lfftw3", "-lm"]),
}

# Makes a command from an MPI, a number of ranks, a program and its environment variables.
Start = Callable[[Mpi, int, list[str], dict[str, str]], list[str]]


class LaunchError(Exception):
    """The program ended with an error, or did not end."""


@dataclass(frozen=True)
class Took:
    """The seconds of a launch; None if they are not known."""

    whole: float
    own: float | None
    exchanging: float | None


@dataclass(frozen=True)
class Place:
    """Where programs run: with one of this machine's MPIs, here or on emulated hosts."""

    mpi: Mpi
    start: Start = launch_command
    emulated: str = ""  # the emulated network, if any

    @property
    def label(self) -> str:
        return label_of(self.mpi) + (f" on {self.emulated}" if self.emulated else "")

    @property
    def built(self) -> Path:
        return ROOT / "build/programs" / label_of(self.mpi)


def label_of(mpi: Mpi) -> str:
    """The name of an MPI, such as openmpi4."""
    return mpi.kind + mpi.version.partition(".")[0]


def find_mpis(wanted: str) -> list[Mpi]:
    """The MPIs that have a preload and a compiler, each with the library of its usual ABI."""
    found: dict[str, Mpi] = {}
    for mpi in find_all():
        if mpi.abi != "standard" and mpi.preload.is_file() and compiler(mpi).exists():
            found.setdefault(label_of(mpi), mpi)
    names = wanted.split(",") if wanted else list(found)
    chosen = [label for name in names for label, mpi in found.items() if name in (label, mpi.kind)]
    if not chosen:
        raise UserError(f"--mpi {wanted}: not here; there are {', '.join(found)}" if found else "no MPI: make build")
    return [found[label] for label in dict.fromkeys(chosen)]


def compiler(mpi: Mpi) -> Path:
    """The compiler beside the MPI's mpiexec. Its name has the same ending if Debian has several MPIs."""
    return mpi.mpiexec.with_name("mpicc" + "".join(mpi.mpiexec.suffixes[:1]))


def compile_for(place: Place, name: str) -> Path:
    """The file that SOURCES calls by this name, compiled anew if its source is newer."""
    source, flags = SOURCES[name]
    made = place.built / name
    if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
        made.parent.mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"I_MPI_ROOT": str(place.mpi.mpiexec.parent.parent)}  # Intel's compiler asks for it
        command = [str(compiler(place.mpi)), "-O2", str(source), "-o", str(made), *flags]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UserError(f"{' '.join(command)}: {done.stderr}")
    return made


def find_program(place: Place, case: Case) -> list[str] | None:
    """How the program's command begins; None if the program is not there."""
    if case.mpis and label_of(place.mpi) not in case.mpis:
        return None
    if case.program.endswith(".py"):
        there = case.program != "fields.py" or importlib.util.find_spec("mpi4py_fft")
        return [sys.executable, str(HERE / case.program)] if there else None
    if case.program in SOURCES:
        there = case.program != "transpose" or FFTW_MPI.exists()
        return [str(compile_for(place, case.program))] if there else None
    if case.program == "IMB-MPI1":
        path = ROOT / ".mpi/impi/bin" / case.program
    elif case.calls_shoal:
        path = ROOT / "build" / place.mpi.abi / case.program
    else:
        path = Path(shutil.which(case.program) or "/nowhere")
    return [str(path)] if path.exists() else None


def variables_of(place: Place, case: Case, way: str, folder: Path) -> dict[str, str]:
    """The variables of the ranks, which name libraries in the folder. `way`: native is without Shoal, auto is Shoal at
    its defaults; else it is a spec."""
    asked = {} if way == "auto" else {f"SHOAL_{form}": way for form in case.forms}
    libraries = [str(place.mpi.library.parent), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    common = {"LD_LIBRARY_PATH": ":".join(libraries), "OMP_NUM_THREADS": "1"}
    if case.calls_shoal:
        return common | asked
    if way == "native":
        return common | {"LD_PRELOAD": str(compile_for(place, "clock.so"))}
    # The clock comes first, so that it also times Shoal's functions.
    return common | asked | {"LD_PRELOAD": f"{compile_for(place, 'clock.so')}:{copy_of(place.mpi.preload, folder)}"}


def copy_of(preload: Path, folder: Path) -> Path:
    """A copy of the preload with its drop-in library, for one launch. Where the system keeps a file in memory decides
    which of its parts share a place in the caches. With one copy for all launches, a program would by chance be a
    little slower or faster in all of them, and a rank test would take that for a difference."""
    for library in (preload, preload.with_name("libshoal-drop-in.so")):
        shutil.copy(library, folder)
    return folder / preload.name


def launch(place: Place, case: Case, way: str, wisdom: Path | None = None) -> Took:
    """Runs the program once, in a folder of its own."""
    program = find_program(place, case)
    assert program
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        for changed in case.inputs:
            write_input(changed, folder)
        variables = variables_of(place, case, way, folder) | {"PROGRAMS_CLOCK": str(folder / "clock")}
        variables |= {"SHOAL_WISDOM": str(wisdom)} if wisdom else {}
        command = place.start(place.mpi, case.ranks, [*program, *shlex.split(case.arguments)], variables)
        began = time.perf_counter()
        done = subprocess.run(
            ["timeout", "--foreground", "-k", "5", str(LIMIT), *command], cwd=folder, env=environment(),
            capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        whole = time.perf_counter() - began
        if done.returncode != 0:
            last = " ".join((done.stdout + done.stderr).split())[-300:]
            raise LaunchError(f"no end in {LIMIT} s" if done.returncode in (124, 137) else f"{done.returncode}: {last}")
        exchanging = seconds(case.exchanging, done.stdout) if case.exchanging else clocked(folder / "clock")
        return Took(whole, seconds(case.own, done.stdout), exchanging)


def environment() -> dict[str, str]:
    """The environment without Shoal's settings and preloads: those of whoever runs this are not the programs'."""
    kept = launch_environment()
    return {name: kept[name] for name in kept if not name.startswith("SHOAL_") and name != "LD_PRELOAD"}


def write_input(changed: Changed, folder: Path) -> None:
    source = INPUTS / changed.file
    text = (source if source.exists() else HPCC_INPUT).read_text()
    for before, after in changed.words:
        if text.count(before) != 1:
            raise UserError(f"{source}: expected '{before}' once")
        text = text.replace(before, after)
    (folder / changed.file).write_text(text)


def seconds(pattern: str, said: str) -> float | None:
    """The time that the pattern finds in a text, such as 0.5, 0.5 s, 20 ms or 1m 5.2."""
    found = re.search(pattern, said) if pattern else None
    if not found:
        return None
    minutes, number, milli = re.fullmatch(r"(?:(\d+)m *)?([\d.]+)(?: (m?)s)?", found[1]).groups()
    return 60 * int(minutes or 0) + float(number) * (1e-3 if milli else 1)


def clocked(file: Path) -> float | None:
    """The mean of all ranks; None if nothing was exchanged."""
    lines = file.read_text().splitlines() if file.exists() else []
    return statistics.mean(float(line.split()[2]) for line in lines) if lines else None
