"""A switched cluster on one machine: network namespaces are hosts, bridges are switches, token buckets limit ports.

Everything is made inside a machine room: one shell in network, mount and process namespaces of its own. The shell runs
as long as the pipe to it is open. When it ends, whatever ended the process that holds the pipe, the kernel kills what
runs in the room, and removes its hosts, switches and links. Nothing outside the room is ever touched. Needs root, or a
kernel that lets other users make namespaces.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import shoal
from shoal.errors import UserError
from shoal.mpi import ALLOW_ROOT, Mpi

TOOLS = {"ip": "iproute2", "tc": "iproute2", "unshare": "util-linux", "nsenter": "util-linux", "hostname": "hostname"}

ENTER_PATH = "/run/shoal/enter"  # these paths are in the room only
TOPOLOGY_PATH = "/run/shoal/topology"
SCRATCH = "/run/shoal"  # for launchers, whose files have process numbers in their names: these begin at 1 in every room

# The bytes of an Ethernet frame on a link that the kernel does not count: check sequence, preamble, gap.
FRAME_OVERHEAD = 24
FRAME = 1514 + FRAME_OVERHEAD
# An idle port saves up the bytes of no more than this time, so that gaps between messages cost as much as on a cable.
BURST_SECONDS = 100e-6
HOST_QUEUE = 1000 * FRAME  # as long as a network card's default queue
SWITCH_QUEUE = 512 * 1024  # what one busy port gets of a small switch's memory
# Hosts hand their ports single frames: a pair takes milliseconds on a slow link, and acknowledgements wait behind it.
FRAMES_AT_ONCE = 1
# The default of Linux; the administrator of this machine may have set another.
CONGESTION_CONTROL = "cubic"

# Variables that make each MPI start its ranks over the hosts, talk over their links, and give way while it waits, since
# all hosts share this machine's cores. A variable that a version of the MPI does not know does no harm.
LAUNCHING = {
    "mpich": {
        "HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": ENTER_PATH, "HYDRA_IFACE": "eth0", "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": "eth0", "UCX_TLS": "tcp,sm,self", "UCX_NET_DEVICES": "eth0",
    },
    "openmpi": {
        "PRTE_MCA_plm_ssh_agent": ENTER_PATH, "PRTE_MCA_prte_if_include": "eth0",
        "OMPI_MCA_plm_rsh_agent": ENTER_PATH, "OMPI_MCA_oob_tcp_if_include": "eth0", "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "^ofi,openib,smcuda,uct,usnic", "OMPI_MCA_btl_tcp_if_include": "eth0",
        "OMPI_MCA_mpi_yield_when_idle": "1",
    } | ALLOW_ROOT,
}  # fmt: skip
OPTIONS: dict[str, list[str]] = {"mpich": [], "openmpi": ["--map-by", "slot:OVERSUBSCRIBE", "--bind-to", "none"]}

HOST_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")

# Debian keeps network tools in folders that only root has on PATH.
FIND_TOOLS = "PATH=$PATH:/usr/sbin:/sbin"

# Keeps frames that cross a bridge out of this machine's packet filter.
SWITCHES_ONLY_SWITCH = (
    "for filter in /proc/sys/net/bridge/bridge-nf-call-*; do [ ! -e $filter ] || echo 0 >$filter; done"
)

# Called like ssh: options, host, command. The command sees the host's name, its network and a shared memory of its own.
ENTER = rf"""#!/bin/sh
{FIND_TOOLS}
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1
shift
exec ip netns exec "$host" unshare --uts --ipc sh -c \
  'hostname "$1" && mount -t tmpfs shm /dev/shm && shift && exec sh -c "$*"' sh "$host" "$@"
"""


@dataclass(frozen=True)
class Port:
    """One end of a link, which sends to the other end."""

    node: str
    to: str
    host: str  # in whose network it is; empty if in the room's, where the switches are
    device: str
    switch: str  # the bridge it belongs to; empty if none
    bits_per_second: float

    @property
    def limits(self) -> str:
        burst = max(2 * FRAME, int(self.bits_per_second / 8 * BURST_SECONDS))
        queue = SWITCH_QUEUE if self.switch else HOST_QUEUE
        rate = int(self.bits_per_second)
        return f"{self.device} root tbf rate {rate}bit burst {burst} limit {queue} overhead {FRAME_OVERHEAD}"


@dataclass(frozen=True)
class Traffic:
    """What a port has sent so far: bytes as the kernel counts them, and the packets that a full queue made it drop."""

    node: str
    to: str
    packets: int
    bytes: int
    drops: int


def scheduling_note() -> str:
    """Why ranks of emulated hosts may wait for each other where ranks of real hosts would not; empty if they do not."""
    setting = Path("/proc/sys/kernel/sched_autogroup_enabled")
    if not setting.exists() or setting.read_text().strip() == "0":
        return ""
    return (
        "Linux schedules each emulated host as a group here, so that a waiting rank gives way only to ranks of its own "
        "host; for times closer to a real cluster's: sysctl kernel.sched_autogroup_enabled=0"
    )


class Emulation:
    """A context manager: the cluster exists inside the `with` statement.

    >>> with Emulation(network) as cluster:
    ...     subprocess.run(cluster.launch_command(mpi, 8, ["./program"]))
    """

    def __init__(self, network: shoal.Network) -> None:
        self.hosts = network.machines
        self.ports = list(ports(network))
        self.script = setup_script(network, self.ports)

    def __enter__(self) -> "Emulation":
        require_tools()
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        namespaces = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        self.room = subprocess.Popen(
            ["unshare", *user, *namespaces, "sh", "-e"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        try:
            self._set_up()
        except BaseException:
            self._tear_down()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tear_down()

    def _set_up(self) -> None:
        assert self.room.stdin and self.room.stdout
        said = []
        try:
            self.room.stdin.write(self.script)
            self.room.stdin.flush()
        except BrokenPipeError:
            pass  # the shell has said why it ended
        for line in self.room.stdout:
            if line == "ready\n":
                return
            said.append(line.strip())
        raise UserError(f"the emulated cluster cannot be made here ({why_not(' '.join(said))})")

    def _tear_down(self) -> None:
        """Ends the room, and returns when everything that ran inside is gone."""
        assert self.room.stdin and self.room.stdout
        self.room.stdin.close()
        self.room.stdout.close()
        self.room.wait()

    def inside(self, command: list[str]) -> list[str]:
        """The command, run in the room, where the switches and their ports are."""
        room = self.room.pid
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        return [
            "nsenter", f"--target={room}", *user, "--net", "--mount", f"--pid=/proc/{room}/ns/pid_for_children",
            "--wd=.", *command,
        ]  # fmt: skip

    def launch_command(
        self, mpi: Mpi, ranks: int, program: list[str], variables: dict[str, str] | None = None
    ) -> list[str]:
        """Like shoal.mpi.launch_command, but over the emulated hosts.

        If there are more ranks than hosts, neighbouring ranks share a host. Messages between hosts go over their links.
        SHOAL_ variables of this process hold for the ranks too.
        """
        counts = [ranks // len(self.hosts) + (i < ranks % len(self.hosts)) for i in range(len(self.hosts))]
        places = ",".join(f"{host}:{count}" for host, count in zip(self.hosts, counts, strict=True) if count)
        if mpi.kind not in LAUNCHING:
            raise UserError(f"programs of {mpi} cannot be launched over emulated hosts; take {' or '.join(LAUNCHING)}")
        asked = {name: value for name, value in os.environ.items() if name.startswith("SHOAL_")}
        inner = {"SHOAL_WAIT": "sleep", "SHOAL_TOPOLOGY": TOPOLOGY_PATH} | asked | (variables or {})
        options = [*OPTIONS[mpi.kind], "-host", places, "-n", str(ranks)]
        launched = [str(mpi.mpiexec), *options, "env", *assignments(inner), *program]
        outside = LAUNCHING[mpi.kind] | {"TMPDIR": SCRATCH}
        return self.inside(["env", *assignments(outside), ENTER_PATH, self.hosts[0], shlex.join(launched)])

    def traffic(self) -> list[Traffic]:
        """The traffic of every port since the cluster was made."""
        lines = [FIND_TOOLS, "tc -s -j qdisc show", *(f"tc -n {host} -s -j qdisc show" for host in self.hosts)]
        answer = subprocess.run(self.inside(["sh", "-c", "\n".join(lines)]), capture_output=True, text=True, check=True)
        counted: dict[tuple[str, str], dict[str, Any]] = {}
        for host, line in zip(["", *self.hosts], answer.stdout.splitlines(), strict=True):
            counted |= {(host, queue["dev"]): queue for queue in json.loads(line) if queue["kind"] == "tbf"}
        found = [(port, counted[port.host, port.device]) for port in self.ports]
        return [Traffic(port.node, port.to, n["packets"], n["bytes"], n["drops"]) for port, n in found]


def assignments(variables: dict[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in variables.items()]


def ports(network: shoal.Network) -> Iterator[Port]:
    """Both ends of every link. A machine's end is eth0 in its own network; a switch's end is in the room's network."""
    machines = {name for name, is_machine in network.nodes if is_machine}
    bridges = {name: f"b{number}" for number, (name, _) in enumerate(network.nodes) if name not in machines}
    for number, (a, b, speed) in enumerate(network.links):
        for end, (node, to) in zip("ab", ((a, b), (b, a)), strict=True):
            if node in machines:
                yield Port(node, to, node, "eth0", "", speed)
            else:
                yield Port(node, to, "", f"l{number}{end}", bridges[node], speed)


def require_hosts(hosts: list[str], every: list[Port]) -> None:
    linked = {port.host for port in every}
    for host in hosts:
        if not HOST_NAME.fullmatch(host):
            raise UserError(f"'{host}' cannot be the name of an emulated host; take letters, digits and '._-'")
        if host not in linked:
            raise UserError(f"machine {host} has no link; an emulated host needs one")


def link_commands(hosts: list[str], every: list[Port], switch_ports: list[Port]) -> list[str]:
    """Commands for `ip` that make hosts, switches, and the links between them."""
    commands = [f"netns add {host}" for host in hosts]
    for bridge in sorted({port.switch for port in switch_ports}):
        commands += [f"link add {bridge} type bridge mcast_snooping 0", f"link set {bridge} addrgenmode none up"]
    for a, b in zip(every[::2], every[1::2], strict=True):
        commands.append(f"link add {in_its_place(a)} type veth peer name {in_its_place(b)}")
    commands += [f"link set {port.device} addrgenmode none master {port.switch} up" for port in switch_ports]
    return commands


def setup_script(network: shoal.Network, every: list[Port]) -> str:
    """The script for the shell in the room, which prints "ready" at the end."""
    hosts = network.machines
    require_hosts(hosts, every)
    addresses = {host: f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}" for number, host in enumerate(hosts, 1)}
    names = "127.0.0.1 localhost\n" + "".join(f"{address} {host}\n" for host, address in addresses.items())
    switch_ports = [port for port in every if port.switch]
    steps = [
        FIND_TOOLS,
        "mount -t tmpfs run /run",
        "mkdir /run/shoal",
        write_file(ENTER_PATH, ENTER),
        f"chmod +x {ENTER_PATH}",
    ]
    steps += [write_file("/run/shoal/hosts", names), "mount --bind /run/shoal/hosts /etc/hosts"]
    steps += [write_file(TOPOLOGY_PATH, network.to_edge_list()), SWITCHES_ONLY_SWITCH]
    steps += [batch("ip", link_commands(hosts, every, switch_ports))]
    steps += [batch("tc", [f"qdisc add dev {port.limits}" for port in switch_ports])]
    for port in every:
        if port.host:
            steps += host_steps(port, addresses[port.host])
    return "\n".join([*steps, "echo ready", ""])


def host_steps(port: Port, address: str) -> list[str]:
    """The lines that bring up a host's end of its link."""
    up = ["link set lo up", f"addr add {address}/8 dev eth0 noprefixroute"]
    up.append(f"link set eth0 addrgenmode none gso_max_segs {FRAMES_AT_ONCE} up")
    up.append(f"route add 10.0.0.0/8 dev eth0 congctl {CONGESTION_CONTROL}")
    return [batch(f"ip -n {port.host}", up), f"tc -n {port.host} qdisc add dev {port.limits}"]


def in_its_place(port: Port) -> str:
    return f"{port.device} netns {port.host}" if port.host else port.device


def write_file(path: str, text: str) -> str:
    return f"cat >{path} <<'END_OF_FILE'\n{text}END_OF_FILE"


def batch(tool: str, lines: list[str]) -> str:
    return f"{tool} -batch - <<'END_OF_BATCH'\n" + "\n".join(lines) + "\nEND_OF_BATCH"


def require_tools() -> None:
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    packages = sorted({package for tool, package in TOOLS.items() if not shutil.which(tool, path=path)})
    if packages:
        raise UserError(f"emulation needs {', '.join(packages)}; get it with: apt-get install {' '.join(packages)}")


def why_not(said: str) -> str:
    """What the shell in the room said before it gave up, and what may help."""
    if "unshare" in said and os.geteuid() != 0:
        return f"{said}; run it as root, or let users make namespaces: sysctl kernel.unprivileged_userns_clone=1"
    return said or "its shell ended without a message"
