"""A whole MPI program on a modelled cluster, without Shoal and with it."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from shoal.console import out
from shoal.errors import UserError
from shoal.measurements import ProgramRun, Results, readable_seconds
from shoal.simulation import Simulation, in_memory, made, version

PRELOADED, LIBRARY = "libshoal_simulated_program.so", "libshoal_simulated_library.so"
# A second of computing on this machine is a simulated second, on hosts of 1 Gflop/s.
COMPUTING = ("smpi/simulate-computation:yes", "smpi/host-speed:1Gf")


def simulate_program(
    clusters: Sequence[Simulation], selectors: Sequence[str], words: Sequence[str], *, computing: bool, output: Path
) -> None:
    program = Path(words[0])
    if not program.is_file():
        raise UserError(f"{program}: there is no such program; build it with {made('smpicc')} or smpicxx")
    made(PRELOADED), made(LIBRARY), version()
    output.mkdir(parents=True, exist_ok=True)
    results = Results()
    with (output / "results.jsonl").open("w", buffering=1) as file:
        for at in clusters:
            file.write(at.provenance(f"SimGrid {version()}", False) + "\n")
            out.print(at.words() + ("" if computing else "; computing costs nothing"), soft_wrap=True)
            for run in runs(at, selectors, [str(program.resolve()), *words[1:]], computing):
                file.write(json.dumps(asdict(run)) + "\n")
                results.programs.append(run)
    from shoal.plots import programs_plot  # takes most of a second to load

    out.print(table(results.programs))
    programs_plot(results, output / "programs.png")
    out.print(f"Results: {output / 'results.jsonl'}; picture: {output / 'programs.png'}")


def runs(at: Simulation, selectors: Sequence[str], words: Sequence[str], computing: bool) -> Iterator[ProgramRun]:
    for selector in selectors:
        for served in (False, True):
            run = run_once(at, selector, words, served, computing)
            out.print("\n".join(run.told), soft_wrap=True, markup=False)
            yield run


def run_once(at: Simulation, selector: str, words: Sequence[str], served: bool, computing: bool) -> ProgramRun:
    configured = [f"smpi/coll-selector:{selector}", *at.costs(["native"]), *(COMPUTING if computing else ())]
    variables = {"SHOAL_REPORT": "1"} | os.environ
    if served:
        variables["SIMULATED_SHOAL"] = str(made(LIBRARY))
    if at.layout:
        variables["SHOAL_LAYOUT"] = at.layout
    hosts = at.platform.host_file(at.nodes, at.ppn)
    with in_memory(at.platform.xml) as platform, in_memory(hosts) as placed, tempfile.TemporaryFile("w+") as said:
        command = [
            *at.smpirun(platform, placed, configured), "--log=smpi_pmpi.thres:error",
            "-wrapper", f"env LD_PRELOAD={made(PRELOADED)}", *words,
        ]  # fmt: skip
        nothing, wanted = subprocess.DEVNULL, subprocess.PIPE
        done = subprocess.run(command, stdin=nothing, stdout=wanted, stderr=said, text=True, env=variables, check=False)
        said.seek(0)
        told, others = told_by_shoal(said.read().splitlines())
    print("\n".join(others), file=sys.stderr, end="\n" if others else "")
    return read_run(at, selector, words, served, done, told)


def told_by_shoal(lines: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    told = tuple(line for line in lines if line.startswith("shoal: "))
    return told, [line for line in lines if line not in told]


def read_run(
    at: Simulation, selector: str, words: Sequence[str], served: bool, done: subprocess.CompletedProcess[str],
    told: tuple[str, ...],
) -> ProgramRun:  # fmt: skip
    lines = done.stdout.splitlines()
    found = [line for line in lines if line.startswith('{"seconds": ')]
    out.print("\n".join(line for line in lines if line and line not in found), soft_wrap=True, markup=False)
    if done.returncode != 0 or not found:
        raise UserError(f"{words[0]} did not end well on {at.ranks} simulated ranks: status {done.returncode}")
    name = " ".join([Path(words[0]).name, *words[1:]])
    return ProgramRun(name, selector, served, at.ranks, at.name, told=told, **json.loads(found[-1]))


def table(all_runs: Sequence[ProgramRun]) -> Table:
    rows = Table("on", "MPI as", "", "program", "in exchanges", "learning", "gain")
    natives = {(run.on, run.native): run.seconds for run in all_runs if not run.shoal}
    for run in all_runs:
        gain = f"{natives[run.on, run.native] / run.seconds:.2f}x" if run.shoal else ""
        cost = f"{readable_seconds(run.learning)}, {run.learning / run.seconds:.1%}" if run.shoal else ""
        rows.add_row(
            run.on, run.native, "with Shoal" if run.shoal else "without", readable_seconds(run.seconds),
            readable_seconds(run.exchanging), cost, gain,
        )  # fmt: skip
    return rows
