"""Runs whole programs without and with Shoal, in turns: does Shoal slow any of them down, and what does it gain?

    .venv/bin/python bench/programs --quick
    .venv/bin/python bench/programs --only 'pencils|pw.x' --mpi mpich5,openmpi4
    .venv/bin/python bench/programs --set picture --mpi mpich5,openmpi5 --pairs 8

Every case is launched in turns, in alternating order: without Shoal, under the preload with its defaults, and with the
best fixed choice asked for by name. A few launches of each candidate first find this choice. Tables tell the time of
the whole program, the time by the program's own clock, and the time inside its exchanges (bench/programs/clock.c). A
program counts as slower if a rank test finds a difference (p < 0.01) that is more than 2 % and more than 5 ms. Programs
that are not installed are left out; make programs-packages installs them. Page: docs/benchmarking.md.
"""

import argparse
import hashlib
import os
import platform
import re
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[1])  # there, this folder is a package

from rich.console import Console

from programs import picture, table
from programs.cases import SETS, Case, every
from programs.launch import Place, find_mpis, find_program, label_of
from programs.record import Log
from programs.rows import row, totals
from programs.turns import Plan, measure
from shoal.emulation import LAUNCHING, Emulation
from shoal.errors import UserError, told_in_one_line
from shoal.mpi import usable_cores
from shoal.networks import read_network

out = Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 170, highlight=False)
HOSTS, RATE = "line:2x2", "1G"


def main() -> None:
    arguments = parse(sys.argv[1:])
    with told_in_one_line(), ExitStack() as stack:
        todo = [(place, case) for place in places(arguments, stack) for case in chosen(place, arguments)]
        if arguments.list:
            for place, case in todo:
                out.print(f"{place.label}: {case.name}")
            return
        if not todo:
            raise UserError(f"--only {arguments.only}: no such case; see --list")
        if arguments.quick:
            out.print(sample(todo, arguments))
        log = Log(arguments.output / "programs.jsonl", arguments.resume)
        log.begin(provenance({place.mpi.preload for place, _ in todo}))
        measure_all(todo, arguments, log)
        show(log, todo, arguments.output)


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/programs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, help="launches of each way (default 10; 8 with --quick)")
    parser.add_argument("--mpi", default="", help="for example mpich5,openmpi (default: every MPI with a preload)")
    parser.add_argument("--only", default="", metavar="PATTERN", help="cases whose name matches")
    parser.add_argument("--set", choices=SETS, help="the cases of a table in docs/measured/programs.md")
    parser.add_argument("--quick", action="store_true", help="a sample in about 3 minutes, of two MPIs")
    parser.add_argument("--emulated", action="store_true", help="on 4 emulated hosts with 2 ranks each; needs root")
    parser.add_argument("--wisdom", action="store_true", help="also the second run with what the first one learnt")
    parser.add_argument("--list", action="store_true", help="say which cases there are")
    parser.add_argument("--resume", action="store_true", help="keep what an interrupted run measured")
    parser.add_argument("--output", "-o", type=Path, default=Path("shoal-programs"), help="folder for what is measured")
    arguments = parser.parse_args(words)
    arguments.pairs = arguments.pairs or (8 if arguments.quick else 10)
    arguments.mpi = arguments.mpi or ("mpich5,openmpi4" if arguments.quick else "")
    return arguments


def places(arguments: argparse.Namespace, stack: ExitStack) -> Iterator[Place]:
    """One place for each MPI. With --emulated the places are on emulated hosts, which exist until the stack ends."""
    mpis = find_mpis(arguments.mpi)
    if not arguments.emulated:
        yield from map(Place, mpis)
        return
    cluster = Emulation(read_network(HOSTS, RATE))
    if not arguments.list:
        stack.enter_context(cluster)
    for mpi in mpis:
        if mpi.kind in LAUNCHING:
            yield Place(mpi, cluster.launch_command, f"{HOSTS} at {RATE}")


def chosen(place: Place, arguments: argparse.Namespace) -> Iterator[Case]:
    for case in every():
        named = all(re.search(pattern, case.name) for pattern in (arguments.only, SETS.get(arguments.set, "")))
        wanted = named and (case.quick or not arguments.quick)
        if wanted and (case.emulated or not place.emulated) and find_program(place, case):
            yield case


def sample(todo: list[tuple[Place, Case]], arguments: argparse.Namespace) -> str:
    """What --quick runs, in a line."""
    labels = dict.fromkeys(label_of(place.mpi) for place, _ in todo)
    options = f"--mpi {','.join(labels)} --pairs {arguments.pairs}{' --emulated' * arguments.emulated}"
    return f"quick: {options}, cases: {len(todo)} (--list names them)"


def provenance(preloads: set[Path]) -> dict[str, Any]:
    when = time.strftime("%Y-%m-%d %H:%M:%S %Z")
    builds = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(preloads)}
    return {"date": when, "kernel": platform.release(), "cores": usable_cores(), "preloads": builds}


def measure_all(todo: list[tuple[Place, Case]], arguments: argparse.Namespace, log: Log) -> None:
    plan = Plan(arguments.pairs, 1 if arguments.quick else 2, arguments.wisdom)
    for number, (place, case) in enumerate(todo, 1):
        record = measure(place, case, plan, log)
        said = row(record).defaults.get("whole")
        failed = "".join(f"; {way} failed: {why}" for way, why in record.failed.items())
        ratio = f"{said.ratio:.2f}x" if said else ""
        print(f"{number}/{len(todo)} {place.label}: {case.name}: {ratio}{failed}", file=sys.stderr, flush=True)


def show(log: Log, todo: list[tuple[Place, Case]], folder: Path) -> None:
    """Shows tables and draws a picture. Exits with status 1 if a program failed."""
    rows = [row(log.of(place.label, case.name)) for place, case in todo]
    for place in dict.fromkeys(one.place for one in rows):
        out.print(table.cases_table(place, [one for one in rows if one.place == place]))
    every_total = totals(rows)
    out.print(table.totals_table(every_total))
    for name in every_total[-1].slower:
        out.print(f"slower: {name}")
    for one in rows:
        for way, why in one.failed.items():
            out.print(f"failed: {one.case} ({one.place}), {way}: {why}")
    picture.draw(rows, folder / "programs.png")
    out.print(f"All launches: {log.path}; picture: {folder / 'programs.png'}")
    sys.exit(1 if every_total[-1].failed else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; --resume goes on")
