"""A modelled cluster, and how SimGrid's smpirun is started on it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import shoal
from shoal.errors import UserError
from shoal.platforms import SECONDS_A_BYTE, Platform

# Makes the driver's own calls cheap, and also new communicators. For each of these SMPI broadcasts a number. The
# broadcast that selectors choose makes communicators of nodes first, which takes as long as a hundred messages.
CONFIGURATION = (
    "smpi/simulate-computation:no", "network/crosstraffic:0", "smpi/allreduce:rdb", "smpi/bcast:binomial_tree",
    "smpi/test:0", "smpi/iprobe:0",
)  # fmt: skip
# SMPI's default factors are those of one old machine, so all factors are set to 1. With the default precision, a
# thousand ranks that send equal blocks at once end in "Cannot saturate more". SimGrid 4 has other names for these
# settings. There, links are also shared out only once for all messages that end within 10 ns (precision/timing): times
# differ by 0.3 % at most, and the simulation is up to twice as fast.
SOLVED_WITH = {
    "3": ("smpi/bw-factor:0:1", "smpi/lat-factor:0:1", "maxmin/precision:1e-3"),
    "4": (
        "network/bandwidth-factor:1", "network/latency-factor:1", "precision/work-amount:1e-3",
        "precision/timing:1e-8",
    ),
}  # fmt: skip

# From this many ranks on, the sender of a message pays for its receiver too, if all ranks send as many messages as they
# receive. SimGrid 3.32 charges receivers only for messages whose senders do not wait for them, and searches all
# messages under way whenever such a message ends.
SENDERS_PAY_FROM = 1024


@dataclass(frozen=True)
class Simulation:
    platform: Platform
    nodes: int
    ppn: int
    message_cost: float
    everyone_sends: bool
    layout: str = ""  # the levels; empty: nodes only

    @property
    def ranks(self) -> int:
        return self.nodes * self.ppn

    @property
    def name(self) -> str:
        return f"modelled {self.platform.name} {self.nodes}x{self.ppn}"

    @property
    def placed(self) -> str:
        return self.layout or f"{self.nodes}x{self.ppn}"

    def words(self) -> str:
        return (
            f"modelled: {self.platform.name}, {self.nodes} nodes of {self.ppn} ranks, {self.platform.links}; "
            f"{self.message_cost * 1e6:g} us for each message sent and for each received"
            + (", charged to its sender but for native" if self.senders_pay else "")
        )

    @property
    def senders_pay(self) -> bool:
        return self.everyone_sends and self.ranks >= SENDERS_PAY_FROM

    def costs(self, variants: list[str]) -> list[str]:
        """SMPI's settings for the cost of a message: of blocking sends, receives and nonblocking sends."""
        if self.senders_pay and "native" not in variants:
            price = f"{2 * self.message_cost}:{2 * SECONDS_A_BYTE}"
            return [f"smpi/os:0:{price}", f"smpi/ois:0:{price}", "smpi/send-is-detached-thresh:0"]
        return [f"smpi/{kind}:0:{self.message_cost}:{SECONDS_A_BYTE}" for kind in ("os", "or", "ois")]

    def provenance(self, simulator: str, verified: bool) -> str:
        facts = {"shoal": shoal.__version__, "mpi": self.name, "ranks": self.ranks, "modelled": True,
                 "assumed": self.words(), "simulator": simulator, "verified": verified}  # fmt: skip
        return json.dumps({"provenance": facts})

    def smpirun(self, platform: str, hosts: str, configured: Iterable[str]) -> list[str]:
        """The beginning of a command with smpirun. `platform` and `hosts`: the paths of its input."""
        options = [f"--cfg={one}" for one in (*CONFIGURATION, *SOLVED_WITH[version()[0]], *configured)]
        return [
            str(made("smpirun")), "-np", str(self.ranks), "-hostfile", hosts, "-platform", platform, *options,
            "--log=root.thres:warning",
        ]  # fmt: skip


@contextmanager
def in_memory(text: str) -> Iterator[str]:
    """The path of a file in memory that holds this text. It is gone when this process is, however the process ends."""
    with os.fdopen(os.memfd_create("shoal"), "w") as file:
        file.write(text)
        file.flush()
        yield f"/proc/{os.getpid()}/fd/{file.fileno()}"


def made(name: str) -> Path:
    """What `make build-smpi` makes: the driver, or smpirun, smpicc or smpicxx of the SimGrid that it was built with."""
    path = Path(sys.prefix) / "lib" / "shoal" / "smpi" / name
    if not path.exists():
        raise UserError(
            f"there is no {path}; make build-smpi makes it, with SimGrid (sudo apt-get install libsimgrid-dev)"
        )
    return path


@cache
def version() -> str:
    """The version of SimGrid."""
    said = subprocess.run([made("smpirun"), "-version"], capture_output=True, text=True, check=False).stdout
    match = re.search(r"SimGrid version v?([\d.]+)", said)
    if not match or match[1][0] not in SOLVED_WITH:
        raise UserError(f"{made('smpirun')}: version 3 or 4 of SimGrid was expected; it says {said.strip()!r}")
    return match[1]
