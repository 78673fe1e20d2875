"""A machine as the model has it: prices for what schedules ask of it, and how they are found."""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from scipy.optimize import nnls

import shoal
from shoal.errors import UserError

LEVELS = ("memory", "node", "network")
PRICES = ("latency", "per_message", "per_byte")
NAMES = (*(f"{level}.{price}" for level in LEVELS for price in PRICES), "copy.per_byte")


@dataclass(frozen=True)
class Level:
    """Seconds for a wait, for a message sent and received, and for a byte."""

    latency: float = 0.0
    per_message: float = 0.0
    per_byte: float = 0.0


@dataclass(frozen=True)
class Machine:
    """Through memory that the ranks of a node share, by messages inside a node, and between nodes, where a byte takes
    the link of its node; and seconds for a byte that is copied."""

    memory: Level
    node: Level
    network: Level
    copy: float
    source: str = ""

    @classmethod
    def of(cls, prices: Sequence[float], source: str) -> "Machine":
        """From the prices in the order of NAMES."""
        memory, node, network = (Level(*prices[i : i + len(PRICES)]) for i in range(0, len(prices) - 1, len(PRICES)))
        return cls(memory, node, network, prices[-1], source)

    @property
    def prices(self) -> tuple[float, ...]:
        return (*astuple(self.memory), *astuple(self.node), *astuple(self.network), self.copy)

    def seconds(self, load: shoal.Load, block: float) -> float:
        return sum(price * count for price, count in zip(self.prices, counts(load, block), strict=True))


# Processors and networks of the present: a message of a few hundred nanoseconds, ten gigabytes a second.
COMMON = Machine(
    Level(0.5e-6, 0.1e-6, 0.1e-9), Level(0.5e-6, 0.3e-6, 0.1e-9), Level(2e-6, 0.5e-6, 0.1e-9), 0.1e-9,
    "the model of a common machine (shoal model fit measures this one)",
)  # fmt: skip


def counts(load: shoal.Load, block: float) -> list[float]:
    """What is multiplied with each price."""
    per_level = [
        (level.waits, level.messages, level.blocks * block) for level in (load.memory, load.node, load.network)
    ]
    return [float(count) for level in per_level for count in level] + [load.copied_blocks * block]


@dataclass(frozen=True)
class Sample:
    """One exchange that was measured."""

    spec: str
    block: int
    load: shoal.Load
    seconds: float


def fit(samples: Sequence[Sample], source: str) -> Machine:
    """The prices, none negative, with the smallest relative errors in the sense of least squares."""
    rows = [[count / sample.seconds for count in counts(sample.load, sample.block)] for sample in samples]
    prices, _ = nnls(rows, [1.0] * len(rows))
    return Machine.of([float(price) for price in prices], source)


def errors(machine: Machine, samples: Iterable[Sample]) -> list[float]:
    """By how much each prediction is off, as a share of what was measured."""
    return [abs(machine.seconds(s.load, s.block) / s.seconds - 1) for s in samples]


def errors_unseen(samples: Sequence[Sample]) -> list[float]:
    """The same for every algorithm by a machine that was fitted without it."""
    off: list[float] = []
    for left_out in dict.fromkeys(sample.spec for sample in samples):
        machine = fit([s for s in samples if s.spec != left_out], "")
        off += errors(machine, [s for s in samples if s.spec == left_out])
    return off


def to_toml(machine: Machine) -> str:
    lines = [f"# A machine as Shoal's model has it, in seconds: {machine.source}."]
    for name, price in zip(NAMES, machine.prices, strict=True):
        level, _, key = name.partition(".")
        if f"[{level}]" not in lines:
            lines += ["", f"[{level}]"]
        lines.append(f"{key} = {price:.4g}")
    return "\n".join(lines) + "\n"


def read(path: Path) -> Machine:
    try:
        tables = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read ({error}); shoal model fit writes such a file") from error
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: {error}") from error
    expected = ", ".join(NAMES)
    unknown = [
        f"{level}.{key}" for level, table in tables.items() for key in (table if isinstance(table, dict) else "?")
    ]
    for name in unknown:
        if name not in NAMES:
            raise UserError(f"{path}: {name} is unknown; a machine has {expected}")
    prices = [tables.get(level, {}).get(key) for level, _, key in (name.partition(".") for name in NAMES)]
    for name, price in zip(NAMES, prices, strict=True):
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price < 1e6:
            raise UserError(f"{path}: {name} must be a number of seconds, 0 or more; a machine has {expected}")
    return Machine.of([float(price) for price in prices], f"the model of {path}")
