"""The programs that are run: synthetic ones that isolate one property each, and programs that people use."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from shoal.measurements import readable_bytes

KiB = 1024
DEBIAN = ("openmpi4",)  # what Debian's programs are built for
MPICH_ABI = ("mpich5", "impi2021")
# Patterns for the names of the cases that docs/measured/programs.md shows.
PICTURE = (
    r"same alltoall (30|300|1000|10000) x 64 B, 8 ranks|same alltoallv 1000 x 1 KiB, 8|same alltoall 1000 x 16 KiB, 8"
    r"|pencils .* (300|3000) .*, 8 ranks|(two_sizes|uneven|sparse|moving) .* 3000|mixed (1|2), 300 calls, 8 ranks"
    r"|halo alltoall 300 .* 8 ranks|(copies|communicators) .*8 ranks"
)
SETS = {
    "picture": PICTURE,
    "cores": PICTURE + r"|same alltoallv? (300|3000) x (256 B|16 KiB), 16 ranks",
    "forty": r"same .* (30|300|1000|10000) x .*, 8 ranks|same alltoall 300 x 256 B, (2|16)|pencils .*, 8 ranks"
    r"|(copies|communicators) .*8 ranks|(two_sizes|drifting|sparse|uneven|moving|bursts) .* 3000"
    r"|halo .* 300 .* 8 ranks|groups .* (300|3000) .* 8 ranks|mixed ., 300 calls, 8 ranks",
    "emulated": r"same alltoallv (300|1000) x 1 KiB, 8|same alltoall (30|1000) x 64 B, 8"
    r"|pencils alltoallv (90|300) x 2 KiB, 8",
}
NEIGHBORS = ("NEIGHBOR_ALLTOALL", "NEIGHBOR_ALLTOALLV", "NEIGHBOR_ALLTOALLW")


@dataclass(frozen=True)
class Changed:
    """An input file of tests/apps/programs, with some of its words replaced."""

    file: str
    words: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Case:
    """A program on a number of ranks. Patterns find times in what the program prints (see launch.seconds)."""

    name: str
    program: str  # its name on PATH, or one that launch.find_program knows
    arguments: str
    ranks: int
    own: str = r"SECONDS ([\d.]+)"  # the time by the program's own clock; empty if it has none
    exchanging: str = ""  # the time inside the exchanges; empty if clock.c measures it
    mpis: tuple[str, ...] = ()  # the only ones that can run it; empty for all
    inputs: tuple[Changed, ...] = ()
    forms: tuple[str, ...] = ("ALLTOALL", "ALLTOALLV")  # the settings that name an algorithm
    candidates: tuple[str, ...] = ("native", "shared", "spread_out", "tuna:radix=2")
    between_nodes: tuple[str, ...] = ("hierarchical:local=shared",)
    calls_shoal: bool = False  # calls shoal.h instead of MPI, so nothing is preloaded
    quick: bool = False
    emulated: bool = False  # is run on the emulated cluster too


def every() -> list[Case]:
    return [*lengths(), *numbers_of_ranks(), *kinds(), *mixed(), *neighbors(), *groups(), *real()]


def exchanges(kind: str, collective: str, calls: int, size: int, ranks: int, quick: bool = False) -> Case:
    name = f"{kind} {collective} {calls} x {readable_bytes(size)}, {ranks} ranks"
    arguments = f"{kind} {collective} {calls} {size}"
    soon = calls <= 3000 and calls * size <= 20_000 * KiB  # a call takes milliseconds on the emulated cluster
    return Case(name, "exchanges", arguments, ranks, quick=quick, emulated=ranks == 8 and soon)


def lengths() -> Iterator[Case]:
    """Exchanges of one size on the world, in ever longer runs."""
    sizes = (("alltoall", 64), ("alltoallv", KiB), ("alltoall", 16 * KiB), ("alltoallv", 64 * KiB))
    for (collective, size), calls in product(sizes, (1, 10, 30, 100, 300, 1000, 10_000)):
        if calls * size <= 64_000 * KiB:
            yield exchanges("same", collective, calls, size, 8, quick=(calls, size) in ((30, 64), (1000, KiB)))


def numbers_of_ranks() -> Iterator[Case]:
    sizes = (("alltoall", 256), ("alltoallv", 16 * KiB))
    for ranks, (collective, size), calls in product((2, 4, 16), sizes, (30, 300, 3000)):
        yield exchanges("same", collective, calls, size, ranks, quick=(ranks, size, calls) == (2, 16 * KiB, 300))
    for ranks, (collective, size), calls in product((32, 64), (("alltoall", 64), ("alltoallv", KiB)), (30, 300)):
        yield exchanges("same", collective, calls, size, ranks)


def kinds() -> Iterator[Case]:
    for ranks, steps in product((4, 8), (30, 100, 1000)):
        yield exchanges("pencils", "alltoallv", 3 * steps, 2 * KiB, ranks, quick=(ranks, steps) == (8, 100))
    for ranks in (4, 8):
        yield exchanges("communicators", "alltoall", 300 * 5, KiB, ranks, quick=ranks == 8)
        yield exchanges("copies", "alltoall", 50 * 60, 256, ranks)
    changing = (("two_sizes", "alltoall", 256), ("drifting", "alltoall", 256))
    unequal = (("uneven", "alltoallv", 4 * KiB), ("sparse", "alltoallv", 4 * KiB))
    irregular = (("moving", "alltoallv", KiB), ("bursts", "alltoallv", KiB))
    for (kind, collective, size), calls in product(changing + unequal + irregular, (300, 3000)):
        yield exchanges(kind, collective, calls, size, 8)
    for kind, calls in product(("computing", "skewed"), (100, 1000)):
        yield exchanges(kind, "alltoallv", calls, KiB, 8)
    for ranks in (4, 8):  # each rank sends only to the next, or only to the first, so some are far ahead
        yield exchanges("chain", "alltoallv", 1000, 64, ranks)
        yield exchanges("funnel", "alltoallv", 1600, 64, ranks)


def mixed() -> Iterator[Case]:
    """Simulations whose steps have a few exchanges drawn at random: programs for which nobody has tuned Shoal."""
    for ranks, calls, number in product((2, 4, 8), (30, 300, 3000), (1, 2, 3, 4)):
        name = f"mixed {number}, {calls} calls, {ranks} ranks"
        arguments = f"mixed alltoallv {calls} {number}"
        yield Case(name, "exchanges", arguments, ranks, quick=(ranks, calls, number) == (8, 300, 1))


def neighbors() -> Iterator[Case]:
    """A stencil's exchange in a grid."""
    forms = (("alltoall", 64), ("alltoallv", 4 * KiB), ("alltoallw", 64 * KiB))
    for ranks, steps, (form, size) in product((2, 4, 8), (30, 300, 3000), forms):
        yield Case(
            f"halo {form} {steps} x {readable_bytes(size)}, {ranks} ranks", "halo", f"{form} {steps} {size}", ranks,
            forms=NEIGHBORS, candidates=("native", "direct"), between_nodes=("gathered",),
            quick=(ranks, steps, size) == (8, 300, 64), emulated=ranks == 8 and steps <= 300,
        )  # fmt: skip


def groups() -> Iterator[Case]:
    """Allgathers between the two halves of the ranks."""
    forms = (("allgather", 64), ("allgatherv", 4 * KiB), ("allgather", 64 * KiB))
    for ranks, steps, (form, size) in product((4, 8), (30, 300, 3000), forms):
        yield Case(
            f"groups {form} {steps} x {readable_bytes(size)}, {ranks} ranks", "groups", f"{form} {steps} {size}", ranks,
            exchanging=r"SECONDS ([\d.]+)", forms=("ALLGATHER", "ALLGATHERV"), candidates=("native", "full"),
            between_nodes=("full:paced=yes",), quick=(ranks, steps, size) == (8, 300, 64),
            emulated=ranks == 8 and steps <= 300,
        )  # fmt: skip


def real() -> Iterator[Case]:
    for make in (espresso, abinit, lammps, cp2k, challenge, transforms, intel_benchmarks, applications):
        yield from make()


def espresso() -> Iterator[Case]:
    """A crystal's ground state. Longer runs have more plane waves, and more points of the reciprocal lattice."""
    few = "\n 2\n 0.25 0.25 0.25 1.0\n 0.25 0.25 0.75 3.0\n"
    lengths = {"0.3 s": (16, few), "2 s": (60, " automatic\n4 4 4 1 1 1"), "30 s": (120, " automatic\n9 9 9 1 1 1")}
    for (length, (cutoff, points)), ranks in product(lengths.items(), (2, 4)):
        words = (("ecutwfc = 16.0", f"ecutwfc = {cutoff}"), (f"K_POINTS{few}", f"K_POINTS{points}\n"))
        yield Case(
            f"pw.x silicon {length}, {ranks} ranks", "pw.x", "-in silicon.in", ranks, r"PWSCF +:.* CPU +(.*)s WALL",
            mpis=DEBIAN, inputs=(Changed("silicon.in", words),), quick=(length, ranks) == ("0.3 s", 4),
        )  # fmt: skip


def abinit() -> Iterator[Case]:
    """The same crystal, with bands and plane waves spread over a grid of ranks."""
    for length, (cutoff, points) in {"1 s": (8, 2), "5 s": (30, 4), "20 s": (30, 8)}.items():
        words = (("ecut 8", f"ecut {cutoff}"), ("ngkpt 2 2 2", f"ngkpt {points} {points} {points}"))
        yield Case(
            f"ABINIT silicon {length}, 4 ranks", "abinit", "silicon.abi", 4, r"individual time.* wall= *([\d.]+)",
            mpis=DEBIAN, inputs=(Changed("silicon.abi", words), Changed("silicon.gth")),
        )  # fmt: skip


def lammps() -> Iterator[Case]:
    """Charged particles. Longer runs have more steps or more particles."""
    for length, (cells, steps) in {"0.3 s": (6, 20), "3 s": (6, 800), "30 s": (16, 300)}.items():
        box = " ".join([f"0 {cells}"] * 3)
        words = (("0 6 0 6 0 6", box), ("run 20", f"run {steps}"), ("thermo 2", "thermo 50"))
        yield Case(
            f"LAMMPS PPPM {length}, 4 ranks", "lmp", "-in charges.in -log none", 4, r"Loop time of ([\d.]+)",
            mpis=DEBIAN, inputs=(Changed("charges.in", words),), quick=length == "0.3 s",
        )  # fmt: skip


def cp2k() -> Iterator[Case]:
    """A molecule: one energy, the same on a finer grid, and its geometry."""
    lengths = {"0.6 s": (120, 5.0, "ENERGY"), "2 s": (300, 8.0, "ENERGY"), "15 s": (300, 8.0, "GEO_OPT")}
    for length, (cutoff, box, run) in lengths.items():
        words = (("CUTOFF 120", f"CUTOFF {cutoff}"), ("5.0 5.0 5.0", f"{box} {box} {box}"), ("ENERGY\n", f"{run}\n"))
        yield Case(
            f"CP2K hydrogen {length}, 4 ranks", "cp2k", "-i hydrogen.inp", 4, r"\n CP2K +1 .* ([\d.]+)\n",
            mpis=DEBIAN, inputs=(Changed("hydrogen.inp", words),),
        )  # fmt: skip


def challenge() -> Iterator[Case]:
    """HPCC with its MPIFFT and PTRANS; its other parts take most of the time."""
    for length, n in {"4 s": 1000, "15 s": 2500}.items():
        sizes = (("1000         Ns", f"{n} Ns"),)
        yield Case(
            f"HPCC {length}, 4 ranks", "hpcc", "", 4, own="", mpis=DEBIAN, inputs=(Changed("hpccinf.txt", sizes),)
        )


def transforms() -> Iterator[Case]:
    """FFTW's own parallel transform, one by mpi4py and numpy, and mpi4py-fft's."""
    for (rows, columns, times), ranks in product(((60, 44, 10), (60, 44, 1000), (500, 600, 300)), (2, 4, 8)):
        yield Case(
            f"FFTW-MPI {rows}x{columns} x {times}, {ranks} ranks", "transpose", f"{rows} {columns} {times}", ranks,
            mpis=DEBIAN, quick=(rows, times, ranks) == (60, 1000, 4),
        )  # fmt: skip
    for (rows, columns, times), ranks in product(((60, 90, 15), (60, 90, 1000), (500, 600, 100)), (4, 8)):
        name = f"mpi4py transform {rows}x{columns} x {times}, {ranks} ranks"
        yield Case(name, "spectral.py", f"{rows} {columns} {times}", ranks)
    for (n, times), ranks, parts in product(((16, 300), (24, 300), (32, 100)), (4, 8), ("slabs", "pencils")):
        yield Case(f"mpi4py-fft {n}^3 x {times}, {parts}, {ranks} ranks", "fields.py", f"{n} {times} {parts}", ranks)


def intel_benchmarks() -> Iterator[Case]:
    for sizes, repetitions in (("3:16", 10), ("3:16", 50)):
        arguments = f"-iter {repetitions} -iter_policy off -msglog {sizes} -npmin 4 Alltoall Alltoallv"
        name = f"IMB Alltoall(v) 2^{sizes} x {repetitions}, 4 ranks"
        yield Case(name, "IMB-MPI1", arguments, 4, own="", mpis=MPICH_ABI)


def applications() -> Iterator[Case]:
    """Our own applications, which call Shoal's functions, so the MPI's own exchanges are asked for by name."""
    own, exchanging = r"([\d.]+ m?s), of which exchanging", r"of which exchanging ([\d.]+ m?s)"
    for words in ("closure road:1000", "closure power:3000", "fft 61x71 --repetitions 300", "fft 1001x1203"):
        program, _, arguments = words.partition(" ")
        for ranks in (4, 8):
            yield Case(f"{words}, {ranks} ranks", program, arguments, ranks, own, exchanging, calls_shoal=True)
