"""Named benchmarks: the papers' experiments at the size of one machine."""

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


def _of(name: str, radices: tuple[int, ...], rest: str = "") -> str:
    return ";".join(f"{name}:radix={radix}{rest}" for radix in radices)


_RADICES = (2, 3, 4, 6, 8, 12, 15)

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
}  # fmt: skip
