"""A machine in the model: prices for what schedules ask of it, and how the prices are found."""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import shoal
from shoal.errors import UserError

LEVELS = ("memory", "node", "network")  # every machine has prices for these
PRICES = ("latency", "per_message", "per_byte")
NAMES = (*(f"{level}.{price}" for level in LEVELS for price in PRICES), "copy.per_byte")
GROUP_NAMES = tuple(f"groups.{price}" for price in PRICES)  # a machine has all of these or none


@dataclass(frozen=True)
class Level:
    """The prices of a level: seconds for a wait, for a message sent and received, and for a byte."""

    latency: float = 0.0
    per_message: float = 0.0
    per_byte: float = 0.0

    def seconds(self, load: shoal.LevelLoad, block: float) -> float:
        return self.latency * load.waits + self.per_message * load.messages + self.per_byte * load.blocks * block


@dataclass(frozen=True)
class Machine:
    """The prices of a machine: through memory that the ranks of a node share (`memory`), by messages inside a node
    (`node`), and between nodes (`network`), where a byte occupies the link of its node. `copy`: seconds for a byte that
    is copied. `groups`: the prices between groups of nodes, if they differ from those between nodes."""

    memory: Level
    node: Level
    network: Level
    copy: float
    source: str = ""
    groups: Level | None = None
    per_other: float = 0.0
    per_copied_block: float = 0.0

    @classmethod
    def of(cls, prices: Sequence[float], source: str) -> "Machine":
        """The machine with these prices, which are in the order of NAMES."""
        memory, node, network = (Level(*prices[i : i + len(PRICES)]) for i in range(0, len(prices) - 1, len(PRICES)))
        return cls(memory, node, network, prices[-1], source)

    @property
    def prices(self) -> tuple[float, ...]:
        return (*astuple(self.memory), *astuple(self.node), *astuple(self.network), self.copy)

    @property
    def between_groups(self) -> Level:
        return self.groups or self.network

    @property
    def link(self) -> tuple[float, float]:
        """Between two groups with one rank on each node: seconds to start a step, and for a byte of its largest
        transfer, which is also packed and unpacked."""
        return self.network.latency + self.network.per_message, self.network.per_byte + 2 * self.copy

    def seconds(self, load: shoal.Load, block: float) -> float:
        levels = (self.memory, load.memory), (self.node, load.node), (self.network, load.network)
        sent = sum(level.seconds(asked, block) for level, asked in (*levels, (self.between_groups, load.groups)))
        return sent + (self.copy * block + self.per_copied_block) * load.copied_blocks

    def best_levels(self, problem: shoal.Problem, block: float) -> str:
        """The best hierarchical exchange by the closed forms of its levels."""
        levels = [astuple(level) for level in (self.memory, self.node, self.network, self.between_groups)]
        return shoal.best_levels(problem, block, prices=levels, copy=self.copy)


def common() -> Machine:
    """The machine whose prices jobs use to choose what to try."""
    (memory, node, network, groups), copy = shoal.COMMON_PRICES
    source = "the model of a common machine (shoal model fit measures this one)"
    return Machine(Level(*memory), Level(*node), Level(*network), copy, source, Level(*groups))


COMMON = common()


def counts(load: shoal.Load, block: float) -> list[float]:
    """The number by which each price is multiplied, if groups of nodes have no prices of their own."""
    levels = (load.memory,), (load.node,), (load.network, load.groups)
    per_level = [
        (sum(part.waits for part in level), sum(part.messages for part in level), sum(part.blocks for part in level))
        for level in levels
    ]
    sent = [count for waits, messages, blocks in per_level for count in (waits, messages, blocks * block)]
    return [*map(float, sent), load.copied_blocks * block]


@dataclass(frozen=True)
class Sample:
    """One exchange that was measured."""

    spec: str
    block: int
    load: shoal.Load
    seconds: float


def fit(samples: Sequence[Sample], source: str) -> Machine:
    """The prices, none negative, with the smallest relative errors in the sense of least squares."""
    from scipy.optimize import nnls  # takes half a second to load, and only a fit needs it

    rows = [[count / sample.seconds for count in counts(sample.load, sample.block)] for sample in samples]
    prices, _ = nnls(rows, [1.0] * len(rows))
    return Machine.of([float(price) for price in prices], source)


def errors(machine: Machine, samples: Iterable[Sample]) -> list[float]:
    """By how much each prediction is off, as a share of what was measured."""
    return [abs(machine.seconds(s.load, s.block) / s.seconds - 1) for s in samples]


def errors_unseen(samples: Sequence[Sample]) -> list[float]:
    """The same for every algorithm, predicted by a machine that was fitted without that algorithm."""
    off: list[float] = []
    for left_out in dict.fromkeys(sample.spec for sample in samples):
        machine = fit([s for s in samples if s.spec != left_out], "")
        off += errors(machine, [s for s in samples if s.spec == left_out])
    return off


def to_toml(machine: Machine) -> str:
    lines = [f"# A machine as Shoal's model has it, in seconds: {machine.source}."]
    prices = [*zip(NAMES, machine.prices, strict=True)]
    if machine.groups:
        prices += zip(GROUP_NAMES, astuple(machine.groups), strict=True)
    for name, price in prices:
        level, _, key = name.partition(".")
        if f"[{level}]" not in lines:
            lines += ["", f"[{level}]"]
        lines.append(f"{key} = {price:.4g}")
    return "\n".join(lines) + "\n"


def read_tables(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read ({error}); shoal model fit writes such a file") from error
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: {error}") from error


def read(path: Path) -> Machine:
    tables = read_tables(path)
    names = (*NAMES, *GROUP_NAMES) if "groups" in tables else NAMES
    expected = ", ".join(names)
    unknown = [
        f"{level}.{key}" for level, table in tables.items() for key in (table if isinstance(table, dict) else "?")
    ]
    for name in unknown:
        if name not in names:
            raise UserError(f"{path}: {name} is unknown; a machine has {expected}")
    prices = [tables.get(level, {}).get(key) for level, _, key in (name.partition(".") for name in names)]
    for name, price in zip(names, prices, strict=True):
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price < 1e6:
            raise UserError(f"{path}: {name} must be a number of seconds, 0 or more; a machine has {expected}")
    found = Machine.of([float(price) for price in prices[: len(NAMES)]], f"the model of {path}")
    return replace(found, groups=Level(*map(float, prices[len(NAMES) :]))) if "groups" in tables else found
