"""Searches the fastest exchange (by simulated events) over uses of levels and radices, and prints two lower bounds.

    .venv/bin/python bench/simulated/search.py --platform torus --nodes 16 --ppn 4 --sizes 16,256,1024
    .venv/bin/python bench/simulated/search.py --platform dragonfly --nodes 256 --ppn 4 --sockets 2 --sizes 8,16,32

A level is left out, linear or of a radix. The search changes one level at a time until no such change is faster. Prints
the best over two levels and over all levels of the platform, beside the better of radix 2 and linear, which stands for
the selectors of MPI libraries, and what the model picks. SimGrid is not needed.

The bounds: `messages` is the least time in which one rank's word can reach all ranks, if all ranks do the same at the
same time and every message goes the shortest way. `links` is what the bytes need if all links carry equally much.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import takewhile
from math import prod

import shoal
from shoal.commands.simulate import seconds_of
from shoal.measurements import readable_bytes, readable_seconds
from shoal.platforms import KINDS, MEMORY_LATENCY, Kind, make_platform
from shoal.routes import links_of

RADICES = (*range(2, 17), 24, 32)
MOST_BOUNDED = 256  # ranks; above, the bound of messages would try millions of orders

Level = str | int  # "none", "linear" or a radix


def spec(levels: tuple[Level, ...]) -> str:
    """The spec for levels that are given from the inside out; the last is the outermost."""
    *inner, outermost = levels
    local = "/".join("radix" if isinstance(level, int) else level for level in inner)
    radix = "/".join(str(level) if isinstance(level, int) else "auto" for level in inner)
    most = f"global=radix,global_radix={outermost}" if isinstance(outermost, int) else "block_count=all"
    return f"hierarchical:local={local},radix={radix},{most}"


def choices(members: int, outermost: bool) -> list[Level]:
    return [*([] if outermost else ["none"]), "linear", *(radix for radix in RADICES if radix < members)]


def descend(
    members: list[int], best: tuple[Level, ...], seconds: Callable[[tuple[Level, ...]], float]
) -> tuple[Level, ...]:
    """Searches from `best` on. `members`: the sizes of the levels, from the inside out."""
    while True:
        before = best
        for at in range(len(members)):
            levels = choices(grown(members, best, at), at + 1 == len(members))
            tried = [(*best[:at], level, *best[at + 1 :]) for level in levels]
            best = min(tried, key=seconds)
        if best == before:
            return best


def grown(members: list[int], levels: tuple[Level, ...], at: int) -> int:
    """The members of a level, times those of the levels directly inside it that are left out."""
    left_out = takewhile(lambda inner: levels[inner] == "none", range(at - 1, -1, -1))
    return prod(members[level] for level in (at, *left_out))


def best_levels(layouts: list[str], seconds: Callable[[str, str], float]) -> list[tuple[float, str]]:
    """The best of each layout. The layouts have ever more levels. A search begins with the best of the layout before,
    and again with all levels linear."""
    found: list[tuple[float, str]] = []
    best: tuple[Level, ...] = ("linear",)
    for layout in layouts:
        members = members_of(layout)

        def timed(levels: tuple[Level, ...], layout: str = layout) -> float:
            return seconds(spec(levels), layout)

        begins = (*best[:-1], *["none"] * (len(members) - len(best)), best[-1]), ("linear",) * len(members)
        best = min((descend(members, begin, timed) for begin in begins), key=timed)
        found.append((timed(best), spec(best)))
    return found


def members_of(layout: str) -> list[int]:
    return [int(level.partition(":")[2]) for level in reversed(layout.split())]


def with_sockets(layout: str, sockets: int) -> str:
    *outer, cores = layout.split()
    ranks = int(cores.removeprefix("core:")) // sockets
    return " ".join([*outer, f"socket:{sockets}", f"core:{ranks}"]) if sockets > 1 else layout


def orders(sends: int, receives: int) -> Iterator[str]:
    """The orders in which a rank can send (s) and receive (r), if it receives no message before it has sent one."""
    if sends == receives == 0:
        yield ""
    if receives > sends:
        yield from ("r" + rest for rest in orders(sends, receives - 1))
    if sends:
        yield from ("s" + rest for rest in orders(sends - 1, receives))


def least_seconds(ranks: int, message: float, latency: float) -> float:
    """The bound of messages. Sending takes as long as receiving, and a message brings all that its sender knows."""
    least = float("inf")
    fewest = (ranks - 1).bit_length()
    for messages in range(fewest, fewest + 3):
        for order in orders(messages, messages):
            now, known, under_way = 0.0, 1, []
            for what in order:
                if what == "s":
                    now += message
                    under_way.append((now + latency, known))
                else:
                    arrives, brings = under_way.pop(0)
                    now = max(now, arrives) + message
                    known += brings
            if known >= ranks:
                least = min(least, now)
    return least


def links_need(kind: Kind, nodes: int, ppn: int, block: float) -> float:
    """The bound of links: each block uses only the links that it needs, and all links are in use equally long."""
    links = links_of(kind.route(kind.shape(nodes)[1]), nodes)
    carried = sum(1 / links.widths[link] for path in links.paths for link in path)
    return carried * ppn * ppn * block / kind.bandwidth / len(links.widths)


def search(asked: argparse.Namespace, size: int) -> str:
    platform = make_platform(asked.platform, asked.nodes)
    cost = seconds_of(asked.message_cost)
    machine = platform.events(asked.nodes, cost)
    two = with_sockets(f"node:{asked.nodes} core:{asked.ppn}", asked.sockets)
    every = with_sockets(platform.layout(asked.nodes, asked.ppn), asked.sockets)

    @cache
    def seconds(what: str, layout: str = two) -> float:
        return shoal.simulate_events(shoal.parse(what), shoal.Problem(layout=layout), size, machine)

    theirs = min((seconds(what), what) for what in ("tuna:radix=2", "spread_out"))
    flat = min((seconds(what), what) for what in (f"tuna:radix={radix}" for radix in RADICES))
    found = [theirs, flat, *best_levels([two, every], seconds)]
    picked = replace(platform.machine(cost), memory=platform.machine(cost).node)
    model = seconds(picked.best_levels(shoal.Problem(layout=every), size), every)
    names = "theirs", "flat", "two levels", "all levels"
    parts = [f"{name} {readable_seconds(time)} {what}" for name, (time, what) in zip(names, found, strict=True)]
    bounds = f"links {readable_seconds(links_need(KINDS[asked.platform], asked.nodes, asked.ppn, size))}"
    if asked.nodes * asked.ppn <= MOST_BOUNDED:
        bounds += f", messages {readable_seconds(least_seconds(asked.nodes * asked.ppn, cost, MEMORY_LATENCY))}"
    ahead = theirs[0] / min(model, min(found)[0])
    return (
        f"{readable_bytes(size):>7}  {'; '.join(parts)}; model's {readable_seconds(model)}; bounds: "
        f"{bounds}; {ahead:.2f}x theirs, all levels {found[2][0] / found[3][0]:.2f}x two"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--platform", default="torus", choices=KINDS)
    options.add_argument("--nodes", type=int, default=16)
    options.add_argument("--ppn", type=int, default=4)
    options.add_argument("--sockets", type=int, default=1, help="of a node: one more level")
    options.add_argument("--sizes", default="16,256,1024")
    options.add_argument("--message-cost", default="0.4us")
    asked = options.parse_args()
    print(f"by events: {asked.platform}, {asked.nodes} nodes of {asked.ppn} ranks, {asked.message_cost} a message")
    for size in map(int, asked.sizes.split(",")):
        print(search(asked, size), flush=True)


if __name__ == "__main__":
    main()
