"""The MPI libraries tests can run on: how to compile for them, start ranks, and read what Shoal writes."""

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# MPI_Init of Open MPI looks for network cards that tests do not have, which takes more than a second of sleep and twice
# the processor's time. That of MPICH looks at the network too, which takes a quarter of its time. UCX watches in all of
# them when memory is given back, as a card has to know; to begin that takes half the time of a start.
WITHOUT_CARDS = {
    "OMPI_MCA_btl": "^ofi",
    "OMPI_MCA_mtl": "^ofi",
    "OMPI_MCA_pml": "ob1",
    "UCX_TLS": "self,sm",
    "UCX_MEM_EVENTS": "no",
    "FI_PROVIDER": "tcp",
}
# Ranks that wait keep their cores, though others need them: one or two ranks on Open MPI, because they do not know of
# tests beside them, and all on MPICH, because its sched_yield() hardly lets others run. Half of the tests' time went
# there.
GIVES_WAY = {"OMPI_MCA_mpi_yield_when_idle": "1", "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"}
KEEPS_CORES = dict.fromkeys(GIVES_WAY, "0")  # as the MPIs wait by default
QUICK = WITHOUT_CARDS | GIVES_WAY
# Open MPI refuses to run as root unless it is told otherwise.
OPEN_MPI = QUICK | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}

# What rank 0 says if it has nothing to report.
NOTHING = (
    "shoal: rank 0 made no all-to-all call of any kind that Shoal could see; a communicator without rank 0 is reported "
    "if at least half of all ranks are in it"
)


def served(run):
    """The numbers of calls in rank 0's report of SHOAL_REPORT=1, by collective and algorithm."""
    calls = {}
    is_of_rank_0 = True
    for line in run.stderr.splitlines():
        words = line.split()
        if line.startswith("shoal: exchanges as rank "):
            is_of_rank_0 = words[4] == "0"
        elif is_of_rank_0 and line.startswith(("shoal: all", "shoal: neighbor_all")) and len(words) >= 11:
            key = words[1], words[-1]
            calls[key] = calls.get(key, 0) + int(words[3])
    return calls


def left(run):
    """The numbers of calls left to the MPI in the report of SHOAL_REPORT=1, by name."""
    line = re.compile(r"^shoal: left to the MPI: (\w+) \(.*\), (\d+) calls? of rank 0, .* in them$", re.MULTILINE)
    return {name: int(calls) for name, calls in line.findall(run.stderr)}


def warnings(run):
    """Lines that say why Shoal leaves calls to the MPI."""
    return [line for line in run.stderr.splitlines() if line.startswith("shoal: ") and "using the MPI library" in line]


@dataclass(frozen=True)
class Mpi:
    name: str  # also its directory under build/, unless `built_as` names that of another MPI
    home: Path  # its prefix
    suffix: str = ""  # ends the names mpicc, mpiexec and so on
    options: tuple = ()  # for mpiexec
    built_as: str = ""
    abi: str = ""  # ends the name of the C compiler for another ABI than this MPI's usual one
    compiler: Path | None = None  # of another MPI with the same ABI, if this one has none

    @property
    def build(self):
        return ROOT / "build" / (self.built_as or self.name)

    @property
    def preload(self):
        return self.build / "libshoal-preload.so"

    @property
    def libraries(self):
        return self.home / "lib"

    def tool(self, name):
        return str(self.home / "bin" / (name + self.suffix))

    @property
    def mpicc(self):
        return str(self.compiler or self.tool("mpicc" + self.abi))

    def missing(self):
        """What is missing to run tests on this MPI, or None."""
        for tool in (self.mpicc, self.tool("mpiexec")):
            if not shutil.which(tool):
                return f"there is no {tool}"
        if not self.preload.exists():
            return f"there is no {self.preload}; build it first"
        return None

    def compile(self, source, output, *flags):
        compiler = self.tool("mpif90") if source.suffix == ".F90" else self.mpicc
        subprocess.run([compiler, "-g", "-o", output, source, *flags], check=True)
        return output

    def ranks(self, ranks, command, preload=True, before=(), behind=(), **environment):
        """One part of a command line for mpiexec: `command` on `ranks` ranks, under the preload and SHOAL_ settings.

        Variables reach the ranks through env, the same way on every MPI, and never reach mpiexec. `before` is
        preloaded before Shoal, and `behind` after it.
        """
        libraries = [str(library) for library in (*before, *[self.preload] * preload, *behind)]
        variables = [f"{name}={value}" for name, value in environment.items()]
        if libraries:
            variables.append("LD_PRELOAD=" + ":".join(libraries))
        return ["-n", str(ranks), "env", *variables, *map(str, command)]

    def launch(self, *parts, timeout=180, until=None, **kwargs):
        """Runs mpiexec with parts made by ranks(); ends it after `timeout` seconds, or when it prints `until`."""
        line = ["timeout", "-k", "5", str(timeout), self.tool("mpiexec"), *self.options]
        for number, part in enumerate(parts):
            line += ([":"] if number else []) + part
        clean = {k: v for k, v in os.environ.items() if not k.startswith("SHOAL_") and k != "LD_PRELOAD"}
        if until:
            return ended_when_it_says(until, line, clean | OPEN_MPI)
        done = subprocess.run(line, env=clean | OPEN_MPI, capture_output=True, text=True, **kwargs)
        if has_not_started(done):
            done = subprocess.run(line, env=clean | OPEN_MPI, capture_output=True, text=True, **kwargs)
        return done

    def run(self, ranks, command, timeout=180, until=None, **kwargs):
        return self.launch(self.ranks(ranks, command, **kwargs), timeout=timeout, until=until)


def has_not_started(done):
    """Whether Open MPI's launcher has ended before it started a rank, as happens once in some hundred launches."""
    return done.returncode == 213 and "listener thread failed to start" in done.stderr


def ended_when_it_says(what, line, env):
    """Like subprocess.run(), for a job that may not end by itself: ends it when it prints `what`."""
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=errors, text=True) as job,
    ):
        said = []
        for text in job.stdout:
            said.append(text)
            if what in text:
                job.terminate()
        job.wait()
        errors.seek(0)
        return subprocess.CompletedProcess(line, job.returncode, "".join(said), errors.read())


WHEELS = [
    Mpi("mpich", ROOT / ".mpi/mpich"),
    Mpi("openmpi", ROOT / ".mpi/openmpi", options=("--oversubscribe",)),
]
DEBIAN = [
    Mpi("mpich-debian", Path("/usr"), suffix=".mpich"),
    Mpi("openmpi-debian", Path("/usr"), suffix=".openmpi", options=("--oversubscribe",)),
]
INTEL = Mpi("impi", ROOT / ".mpi/impi", built_as="mpich", compiler=ROOT / ".mpi/mpich/bin/mpicc")
# MPI 5's standard ABI, which Intel MPI has too.
STANDARD = Mpi("standard", ROOT / ".mpi/mpich", abi="_abi")
# Other MPIs with the ABIs of WHEELS, back to MPI 3.1, which the same preloads serve. Debian's MPICH library has a name
# of its own.
OTHERS = [
    *(Mpi(f"mpich-{version}", ROOT / f".mpi/mpich-{version}", built_as="mpich") for version in ("3.4.3", "4.0", "4.3")),
    Mpi("openmpi-4.1", ROOT / ".mpi/openmpi-4.1", options=("--oversubscribe",), built_as="openmpi"),
    Mpi("impi-2021.6", ROOT / ".mpi/impi-2021.6", built_as="mpich", compiler=ROOT / ".mpi/mpich/bin/mpicc"),
    replace(DEBIAN[0], built_as="mpich"),
    replace(DEBIAN[1], built_as="openmpi"),
]
