"""shoal run: a program with its all-to-all exchanges through Shoal."""

import argparse
import copy
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import shoal
from shoal.errors import UserError, fail
from shoal.mpi import (
    ABIS,
    KINDS,
    PRELOAD,
    Mpi,
    can_be_preloaded,
    find,
    identify,
    launch_command,
    launch_environment,
    preload_for,
    preloads,
    soname,
)
from shoal.program import Needs, choose, find_program, library_path, needs_of, probe

DESCRIPTION = """\
Run an MPI program, in C, C++, Fortran or Python, with Shoal serving its all-to-all exchanges.

Example: shoal run -n 8 --alltoallv tuna:radix=4 -- ./program argument

Other options before -- go to mpiexec:  shoal run -n 8 --hostfile hosts --bind-to core -- ./program
With your own launcher:                 shoal run --launcher "srun -n 8 --mpi=pmix" -- ./program

The exit status is the program's. To do without this command, set LD_PRELOAD to the library that shoal doctor names."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        fail(f"{message}; see {self.prog} --help")


class Once(argparse.Action):
    """Stores a value, and refuses a second one, which would replace the first in silence."""

    def __call__(self, parser: argparse.ArgumentParser, into: argparse.Namespace, value: Any, name: Any = None) -> None:
        given = vars(into).setdefault("given", set())
        if self.dest in given:
            parser.error(f"{name} is given twice; leave one out")
        given.add(self.dest)
        setattr(into, self.dest, value)


def parser(name: str = "shoal run", description: str = DESCRIPTION) -> Parser:
    options = Parser(
        name,
        usage=f"{name} [-n RANKS | --launcher COMMAND] [options] [mpiexec's options] -- PROGRAM [argument ...]",
        description=description,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.register("action", None, Once)  # of all options that name no other action
    add = options.add_argument
    add("-n", "--ranks", "-np", "--np", type=int, metavar="RANKS", help="number of ranks")
    add(
        "--mpi",
        default="",
        help="mpich, openmpi, impi or the path of an mpiexec; default: what the program was built for",
    )
    add(
        "--launcher",
        default="",
        metavar="COMMAND",
        help="start ranks with this command instead of mpiexec, such as srun",
    )
    for one in algorithm_settings():
        add(option_of(one), default="", metavar=one.takes, help=one.help)
    return options


def algorithm_settings() -> list[shoal.Setting]:
    """The settings that commands take as options: those whose value is a spec."""
    return [one for one in shoal.settings() if one.takes == "SPEC"]


def option_of(setting: shoal.Setting) -> str:
    return f"--{setting.name.replace('_', '-')}"


class Job(NamedTuple):
    """A program as it was asked to be run."""

    program: list[str]
    ranks: int | None
    mpi: Mpi | None  # its mpiexec starts the program; None if a launcher was named
    launcher: list[str]
    options: list[str]  # for mpiexec or the launcher
    libraries: dict[str, str]  # variables that let the program find its MPI
    preload: str  # what ranks preload: Shoal, and `others`
    others: str = ""  # what ranks preload without Shoal

    def command(self, variables: dict[str, str]) -> list[str]:
        """The command that runs the program with these variables set for its ranks."""
        variables = self.libraries | variables
        if self.mpi:
            return launch_command(self.mpi, self.ranks or 1, self.program, variables, self.options)
        ranks = ["-n", str(self.ranks)] if self.ranks else []
        setting = ["env", *(f"{name}={value}" for name, value in variables.items())]
        return [*self.launcher, *ranks, *self.options, *setting, *self.program]


def run(words: Sequence[str]) -> NoReturn:
    """Run an MPI program with Shoal serving its exchanges."""
    options = parser()
    options.add_argument(
        "--report",
        action="store_true",
        help="print at the end which algorithm served which calls, and how long they took",
    )
    asked, job = read(options, words)
    settings = algorithms(vars(asked)) | reporting(asked.report)
    variables = settings | {"LD_PRELOAD": job.preload}
    command = job.command(variables)
    sys.stdout.flush()
    os.execvpe(command[0], command, environment_of(job, variables))


def environment_of(job: Job, variables: dict[str, str]) -> dict[str, str]:
    """The environment of mpiexec or the launcher. That of mpiexec has the variables of ranks too, because Open MPI 5
    hands it to processes that the program spawns."""
    return launch_environment() | (job.libraries | variables if job.mpi else {})


def read(options: Parser, words: Sequence[str]) -> tuple[argparse.Namespace, Job]:
    """The options that are given, and the job that they describe."""
    asked, passed, program = split(options, words)
    if not program:
        options.error("which program?")
    refuse_launcher(options, Path(program[0]).name)
    if asked.ranks is None and not asked.launcher:
        options.error("how many ranks? give -n (--ranks)")
    if asked.ranks is not None and asked.ranks < 1:
        options.error(f"--ranks {asked.ranks}: at least 1")
    algorithms(vars(asked))
    path = find_program(program[0])
    needs = needs_of(path)
    if needs.has_own:
        print(f"shoal: {program[0]} is linked to its MPI statically, so Shoal cannot serve it", file=sys.stderr)
    whole = [path, *program[1:]]
    launcher, passed, others = preloaded_without_shoal(launcher_of(asked.launcher), passed, program)
    if asked.launcher:
        if asked.mpi:
            options.error("--mpi names an mpiexec and --launcher another; give one of them")
        return asked, Job(whole, asked.ranks, None, launcher, passed, {}, joined(preload_by(needs), others), others)
    mpi = choose_mpi(asked.mpi, needs, program[0])
    preload = joined(shoals_preload(mpi), others)
    return asked, Job(whole, asked.ranks, mpi, [], passed, library_path(needs, mpi), preload, others)


STARTS_RANKS = r"(mpiexec|mpirun|orterun|prterun|srun)(\..*)?"


def refuse_launcher(options: Parser, program: str) -> None:
    """Refuses a launcher in the place of the program: it would be started once for each rank."""
    if re.fullmatch(STARTS_RANKS, program):
        options.error(f"{program} starts ranks, and so does {options.prog}; leave it out, or name it by --launcher")


# Options of Shoal's commands, which a slip of the fingers would hand to mpiexec.
OWN = ("--ranks", "--launcher", "--report", "--pairs", *map(option_of, algorithm_settings()))
ALIKE = 0.85  # from here on a word counts as a slip; mpiexec's own --n and --report-bindings are below

WHOLE = "\0"  # in front of words that argparse must not cut up: it reads -hosts as -h, -o and so on


def split(options: Parser, words: Sequence[str]) -> tuple[argparse.Namespace, list[str], list[str]]:
    """Shoal's options, the launcher's, and the program: from the first word on that is no option of Shoal's, or the
    words after -- if the launcher's options come first. A -- behind the program is the program's own."""
    kept = [WHOLE + word if re.match("-[nh][^0-9=]", word) and word != "-np" else word for word in words]
    with_program = copy.deepcopy(options)
    with_program.add_argument("program", nargs=argparse.REMAINDER)
    asked, unknown = with_program.parse_known_args(kept)
    program = [word.removeprefix(WHOLE) for word in asked.program]
    if "--" in words and (unknown or program[0].startswith("-")):
        end = words.index("--")
        asked, passed = options.parse_known_args(kept[:end])
        passed = [word.removeprefix(WHOLE) for word in passed]
        refuse_slips(options, passed)
        return asked, passed, list(words[end + 1 :])
    refuse_slips(options, unknown)
    for word in [*unknown, *program[:1]]:
        if word.startswith("-"):
            options.error(f"{word} is no option of Shoal; if it is one of mpiexec, put -- before the program")
    return asked, [], program


def refuse_slips(options: Parser, words: Sequence[str]) -> None:
    """Refuses options that are nearly Shoal's, or that belong to another of its commands."""
    for name in (word.partition("=")[0] for word in words if word.startswith("--")):
        from difflib import get_close_matches  # most calls do not need it

        if near := get_close_matches(name, OWN, 1, ALIKE):
            meant = "" if near == [name] else f" (did you mean {near[0]}?)"
            options.error(f"{name} is no option of {options.prog}{meant}")


def preloaded_without_shoal(
    launcher: list[str], passed: list[str], program: list[str]
) -> tuple[list[str], list[str], str]:
    """The launcher and its options without those that set LD_PRELOAD, and what ranks preload besides Shoal, by these
    options or by the environment."""
    launcher, by_launcher = take_preload(launcher)
    passed, by_options = take_preload(passed)
    later = program[program.index(":") :] if ":" in program else []
    if take_preload(later)[1] is not None or any("LD_PRELOAD=" in word for word in launcher + passed):
        raise UserError("LD_PRELOAD in the launcher's options and Shoal's would replace one another; set yours before "
                        "this command, as in LD_PRELOAD=FILE shoal run ..., and ranks get both")  # fmt: skip
    given = by_options if by_options is not None else by_launcher
    return launcher, passed, others_than_shoal(given if given is not None else os.environ.get("LD_PRELOAD", ""))


def take_preload(options: Sequence[str]) -> tuple[list[str], str | None]:
    """The options without -x LD_PRELOAD=FILE (of Open MPI) and -genv LD_PRELOAD FILE (of MPICH); and the FILE, or
    None."""
    kept, given, left = [], None, list(options)
    while left:
        word = left.pop(0)
        if not re.fullmatch("--?(x|g?env)", word) or not left or left[0].partition("=")[0] != "LD_PRELOAD":
            kept.append(word)
            continue
        _, has_value, value = left.pop(0).partition("=")
        if not has_value and not word.endswith("x") and left:
            has_value, value = " ", left.pop(0)
        given = value if has_value else os.environ.get("LD_PRELOAD", "")
    return kept, given


def others_than_shoal(preloads: str) -> str:
    """What LD_PRELOAD has without Shoal, which an environment module may have put there too."""
    return ":".join(one for one in re.split("[: ]+", preloads) if one and Path(one).name != PRELOAD)


def joined(*preloads: str) -> str:
    return ":".join(filter(None, preloads))


def launcher_of(text: str) -> list[str]:
    words = shlex.split(text)
    if text and (not words or not shutil.which(words[0])):
        raise UserError(f"--launcher {text}: there is no such command")
    return words


def preload_by(needs: Needs) -> str:
    """The preload for the MPI that the program loads. If that cannot be told, those of all ABIs: only the right one
    serves."""
    if needs.soname is None:
        found = preloads()
        if not found:
            raise UserError("no preload is installed; shoal doctor says how to get one")
        return joined(*map(preloadable, found))
    preload = preload_for(ABIS[needs.soname])
    if not preload.is_file():
        raise UserError(f"no preload for {needs.soname} at {preload}; shoal doctor says how to get it")
    return preloadable(preload)


def algorithms(asked: Mapping[str, Any]) -> dict[str, str]:
    """The variables that ask for these specs, which are given by the names of settings; refuses wrong specs."""
    variables = {}
    for one in algorithm_settings():
        if spec := asked.get(one.name):
            try:
                one.require(spec)
            except ValueError as error:
                raise UserError(f"{option_of(one)} {spec}: {error}") from error
            variables[one.variable] = spec
    return variables


def reporting(wanted: bool) -> dict[str, str]:
    """The variable for a report, if one is wanted. A value that the user has set stays, because it may print more."""
    return {"SHOAL_REPORT": os.environ.get("SHOAL_REPORT", "1")} if wanted else {}


def choose_mpi(wanted: str, needs: Needs, program: str) -> Mpi:
    if wanted:
        return find_wanted(wanted, needs, program)
    if needs.soname:
        fitting = choose(needs, find(needs.library))
        if fitting is None:
            raise UserError(f"{program} needs {needs.soname} but no mpiexec for it was found; give it with --mpi PATH")
        return fitting
    chosen = next((mpi for mpi in find() if fits(mpi, needs)), None)
    if chosen is None:
        raise UserError(f"no MPI was found that {program} can load; shoal doctor says how to get one")
    if needs.interpreter is None:
        print(f"shoal: cannot tell which MPI {program} uses; taking {chosen}; --mpi names another", file=sys.stderr)
    return chosen


def find_wanted(wanted: str, needs: Needs, program: str) -> Mpi:
    """The MPI that is asked for: of several of one kind the first that fits the program, with a preload if possible."""
    candidates, fitting = [], []
    for mpi in named(wanted):
        candidates.append(mpi)
        if fits(mpi, needs):
            if mpi.preload.is_file():
                return mpi
            fitting.append(mpi)
    if not candidates:
        raise UserError(f"--mpi {wanted}: not found; shoal doctor lists what there is and how to get others")
    if not fitting:
        wants = needs.soname or "an MPI that its mpi4py can load"
        raise UserError(f"{program} needs {wants}, not {candidates[0]}; leave out --mpi to take its own")
    return fitting[0]


def named(wanted: str) -> Iterator[Mpi]:
    if wanted in KINDS:
        yield from (mpi for mpi in find() if mpi.kind == wanted)
        return
    given = identify(Path(wanted)) if Path(wanted).is_file() else []
    if not given:
        raise UserError(f"--mpi {wanted}: neither {', '.join(KINDS)} nor the path of such an MPI's mpiexec")
    yield from given


def fits(mpi: Mpi, needs: Needs) -> bool:
    if needs.interpreter:  # mpi4py from a wheel takes any MPI; if it was compiled here, it takes only its own
        loaded = probe(needs.interpreter, library_path(needs, mpi))
        return loaded is None or {soname(library) for library in loaded} == {mpi.soname}
    return needs.soname in (None, mpi.soname)


def preload_of(mpi: Mpi) -> str:
    """Shoal's preload for this MPI, and what this process was given to preload."""
    return joined(shoals_preload(mpi), others_than_shoal(os.environ.get("LD_PRELOAD", "")))


def shoals_preload(mpi: Mpi) -> str:
    if not mpi.preload.is_file():
        raise UserError(f"no preload for {mpi} at {mpi.preload}; shoal doctor says how to get it")
    return preloadable(mpi.preload)


def preloadable(library: Path) -> str:
    if not can_be_preloaded(library):
        raise UserError(f"LD_PRELOAD cannot hold {library}, because of the space or colon; install Shoal elsewhere")
    return str(library)
