"""Named experiments, the papers' and a few more: measured at the size of one machine, and simulated at a larger one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    """What `shoal bench --suite NAME` measures; the fields are the command's options."""

    shows: str
    ranks: str
    sizes: str
    distributions: str
    variants: str
    seconds: float = 0.2
    emulate: str = ""
    rate: str = ""
    senders: str = ""
    phases: bool = False  # whether they are recorded
    collective: str = "alltoall"


@dataclass(frozen=True)
class Simulated:
    """What `shoal simulate --suite NAME` simulates; the fields are the command's options."""

    shows: str
    platform: str
    nodes: int
    ppn: int
    sizes: str
    variants: str
    distribution: str = "random"
    selector: str = "mpich"
    senders: int = 0
    events: bool = False
    message_cost: str = ""  # empty for the usual one


def _of(name: str, radices: tuple[int, ...], rest: str = "") -> str:
    return ";".join(f"{name}:radix={radix}{rest}" for radix in radices)


_RADICES = (2, 3, 4, 6, 8, 12, 15)


def _tree(shows: str, form: str, machines: str) -> Suite:
    """An all-to-all on switches, with the paper's block sizes and a rate at which two cores can drive the links."""
    return Suite(
        f"all-to-all on switched Ethernet, {shows}: {form}, emulated", machines, "8192,16384,32768,65536,131072,262144",
        "uniform", "tree;preloaded;native;native_nonblocking;spread_out;pairwise;exclusive_or", 2.0, form, "20M",
    )  # fmt: skip


SUITES = {
    "bruck-radix": Suite(
        "radix-r Bruck, figures 2b to 4: time against the radix, small and large blocks",
        "16", "8,64,512,4096,32768", "uniform", f"native;{_of('bruck', _RADICES)}",
    ),
    "bruck-variants": Suite(
        "radix-r Bruck: basic against modified",
        "8,16", "8,512,32768", "uniform",
        f"native;{_of('bruck', (2, 4), ',variant=basic')};{_of('bruck', (2, 4), ',variant=modified')}",
    ),
    "tuna-radix": Suite(
        "TuNA, figures 7 and 9: the three trends over the radix, and the range of good ones",
        "16", "16,512,4096,32768", "random", f"native;{_of('tuna', (*_RADICES, 16))}",
    ),
    "tuna-native": Suite(
        "TuNA, figure 8: against the MPI's own",
        "4,8,16", "16,128,1024,8192", "random", "native;auto;tuna:radix=2;tuna:radix=4;two_phase",
    ),
    "tuna-hierarchical": Suite(
        "TuNA, figure 10: coalesced against staggered, over block_count; 4 emulated nodes with 4 ranks",
        "16", "16,512,8192", "random",
        "native;tuna:radix=2;"
        + ";".join(f"hierarchical:radix=2,pattern={pattern},block_count={count}"
                   for pattern in ("coalesced", "staggered") for count in (1, 3, 12)),
        2.0, "switch:4", "100M",
    ),
    "tuna-phases": Suite(
        "TuNA, figure 11: where the time goes; 4 emulated nodes with 4 ranks",
        "16", "16,512,8192", "random",
        "native;tuna:radix=2;tuna;hierarchical;hierarchical:pattern=staggered;spread_out",
        1.0, "switch:4", "100M", phases=True,
    ),
    "tuna-linear": Suite(
        "TuNA, figure 12: the standard algorithms",
        "8,16", "16,512,8192", "random",
        "native;linear;spread_out;pairwise;exclusive_or;scattered:block_count=4",
    ),
    "tuna-all": Suite(
        "TuNA, figure 13: all against all",
        "16", "16,64,512,2048,8192", "random", "native;scattered:block_count=4;tuna:radix=2;tuna:radix=4;shared;auto",
    ),
    "tuna-fft": Suite(
        "TuNA, figure 14: the exchanges of two Fourier transforms, N1 (64 B blocks) and N2 (512 B)",
        "8,16", "64,512", "fft1,fft2", "native;auto;tuna:radix=2;tuna:radix=4;scattered:block_count=4",
    ),
    "tuna-distributions": Suite(
        "TuNA, figure 16: sizes after a normal distribution and a power law; beyond it, sparse and experts",
        "8,16", "2048", "normal,power,sparse,experts", "native;auto;tuna:radix=2;tuna:radix=4;scattered:block_count=4",
    ),
    "aapc-a": _tree("figure 6", "switch:24", "24"),
    "aapc-b": _tree("figure 7", "star:4x8", "32"),
    "aapc-c": _tree("figure 8", "line:4x8", "32"),
    "intergroup": Suite(
        "inter-group allgather, figure 4: p:q = 1:1, 1:3, 3:1; 8 emulated hosts",
        "8", "32768,262144,1048576,4194304", "",
        "native;auto;root_gathering;full;full:paced=yes;union_ring;ring;ring:paced=yes", 2.0,
        "switch:8", "100M", "4,2,6",
    ),
}  # fmt: skip

_HIERARCHICAL = "hierarchical;hierarchical:global=radix,global_radix=2,radix=2"

SIMULATED = {
    "bruck-256": Simulated(
        "radix-r Bruck, figures 2b to 4, 256 ranks: time against the radix",
        "dragonfly", 8, 32, "16,64,256,1024", f"native;{_of('bruck', (2, 4, 8, 16, 32, 64, 128, 255))}", "uniform",
    ),
    "tuna-256": Simulated(
        "TuNA, figures 7 and 9, 256 ranks: time against the radix",
        "dragonfly", 8, 32, "16,256,1024", f"native;{_of('tuna', (2, 4, 8, 16, 32, 64, 128, 256))}",
    ),
    "selectors-256": Simulated(
        "TuNA, figures 8, 12, 13, 256 ranks on a dragonfly: against four MPIs' choices and the linear exchanges",
        "dragonfly", 8, 32, "16,64,256",
        f"native;tuna:radix=2;tuna;{_HIERARCHICAL};spread_out;scattered:block_count=32",
        selector="mpich,ompi,mvapich2,impi",
    ),
    "selectors-torus-256": Simulated(
        "the same on a torus",
        "torus", 8, 32, "16,64,256",
        f"native;tuna:radix=2;tuna;{_HIERARCHICAL};spread_out;scattered:block_count=32",
        selector="mpich,ompi,mvapich2,impi",
    ),
    "selectors-64": Simulated(
        "the same for equal blocks to 16 KiB, 64 ranks on a dragonfly and a torus",
        "dragonfly,torus", 8, 8, "16,256,1024,4096,16384",
        "native;hierarchical;tuna:radix=2;tuna;spread_out", "uniform", selector="mpich,ompi,mvapich2,impi",
    ),
    "hierarchical-1024": Simulated(
        "TuNA, figure 10, 1024 ranks: a flat exchange fills the port that 32 ranks share",
        "dragonfly", 32, 32, "64", "native;tuna:radix=2;tuna;hierarchical;spread_out", "uniform",
    ),
    "model-128": Simulated(
        "how far the cost model is from the simulator, 128 ranks, three networks",
        "dragonfly,torus,fat-tree", 8, 16, "16,256",
        "tuna:radix=2;tuna;tuna:radix=32;hierarchical;hierarchical:global=radix,global_radix=2,radix=2;"
        "hierarchical:pattern=staggered;scattered:block_count=32;spread_out", "uniform",
    ),
    "polaris-16384": Simulated(
        "TuNA, 16,384 ranks, by events, with what a message costs on Polaris by the paper's native times",
        "dragonfly", 512, 32, "16", f"{_HIERARCHICAL};tuna:radix=2", events=True, message_cost="3.2us",
    ),
    "fugaku-16384": Simulated(
        "the same on Fugaku",
        "torus", 512, 32, "16", f"{_HIERARCHICAL};tuna:radix=2", events=True, message_cost="25us",
    ),
    "intergroup-256": Simulated(
        "inter-group allgather, figure 4, fully connected, 128 to 128",
        "fat-tree", 256, 1, "32768",
        "root_gathering;root_gathering:broadcast=split;full;full:allgather=ring;ring;union_ring", senders=128,
    ),
    "intergroup-1024": Simulated(
        "the same, 512 to 512 (a quarter of an hour)",
        "fat-tree", 1024, 1, "32768", "root_gathering;root_gathering:broadcast=split;full", senders=512,
    ),
    "intergroup-ring-256": Simulated(
        "inter-group allgather, figure 4, on a ring, 128 to 128",
        "torus:256", 256, 1, "32768", "union_ring;ring_paper;ring", senders=128,
    ),
}  # fmt: skip

# Experiments of scripts in the repository, which neither command runs.
SCRIPTS = {
    "bench/papers/bruck.py": "radix-r Bruck, figure 2a: messages and blocks against the radix, 4096 ranks",
    "bench/papers/tuna.py": "TuNA: every figure of its text, predicted with a cost of messages fitted to one of them",
    "bench/applications.py": "TuNA, figures 14 and 15: a Fourier transform and path finding, and where their time goes",
    "bench/papers/intergroup_allgather.py": "inter-group allgather, tables I and II: steps and volume, 256 ranks",
}


def every() -> list[tuple[str, str]]:
    """Commands, and what each shows."""
    return [
        *((f"shoal bench --suite {name}", suite.shows) for name, suite in SUITES.items()),
        *((f"shoal simulate --suite {name}", suite.shows) for name, suite in SIMULATED.items()),
        *((f"python {path}", shows) for path, shows in SCRIPTS.items()),
    ]
