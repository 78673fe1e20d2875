"""shoal emulate: programs run over hosts and links that exist only for them, and nothing is left behind."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

import mpis
import shoal
from shoal.emulation import Emulation
from shoal.errors import UserError
from shoal.mpi import identify
from shoal.networks import read_network

HERE = Path(__file__).resolve().parent
BYTES = 20000
CALLS = 3  # of MPI_Alltoall in the program


@pytest.fixture(params=[pytest.param(m, id=m.name) for m in mpis.WHEELS], scope="session")
def mpi(request):
    if reason := request.param.missing():
        pytest.skip(reason)
    return request.param


@pytest.fixture(scope="session")
def program(mpi, tmp_path_factory):
    return mpi.compile(HERE / "exchange.c", tmp_path_factory.mktemp(mpi.name) / "exchange")


def test_star(emulate, mpi, program, tmp_path):
    """Four hosts on two switches, with two ranks on each host: every byte arrives, and goes over the links."""
    traffic = tmp_path / "traffic.json"
    line = emulate(mpi, "star:2x2", "-n", 8, "--rate", "50mbit", "--traffic", traffic, "--report", "--", program, BYTES)
    done = subprocess.run(line, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "n0 n0 n1 n1 n2 n2 n3 n3 faults 0\n"
    assert "shoal: links: most was sent from s" in done.stderr
    sent = {(port["node"], port["to"]): port["bytes"] for port in map(json.loads, traffic.read_text().splitlines())}
    expected = {("n0", "s0"): 2 * 6, ("s0", "n1"): 2 * 6, ("s0", "s1"): 4 * 4, ("s1", "s0"): 4 * 4, ("n3", "s1"): 2 * 6}
    for port, blocks in expected.items():
        assert 1 <= sent[port] / (CALLS * blocks * BYTES) <= 1.5, port


def test_preload(emulate, mpi, program):
    """Shoal serves the program there and knows the topology, and its report says so."""
    line = emulate(mpi, "switch:3", "-n", 4, "--rate", "100M", "--alltoall", "tree", "--report", "--", program, 100)
    asking = os.environ | {"SHOAL_REPORT": "phases"}
    done = subprocess.run(line, capture_output=True, text=True, timeout=180, check=False, env=asking)
    assert (done.returncode, done.stdout) == (0, "n0 n0 n1 n2 faults 0\n"), done.stderr
    assert any(line.startswith("shoal: alltoall") and line.endswith("tree") for line in done.stderr.splitlines())
    assert "shoal:   of that prepare" in done.stderr  # environment variables reach the program


# Only some hosts preload Shoal, as if mpirun of Open MPI had not handed LD_PRELOAD to the others.
ON_HOSTS = 'case " $1 " in *" $(hostname) "*) export LD_PRELOAD="$2";; esac; exec "$3"'
NOT_HANDED_ON = "ranks on other nodes run without Shoal's preload"
OLDER_OPEN_MPI = next(one for one in mpis.OTHERS if one.name == "openmpi-4.1")
SOME_HOSTS = [(mpis.WHEELS[1], hosts) for hosts in ("n0", "n1 n2", "n0 n1 n2")]


@pytest.mark.parametrize("open_mpi, hosts", [*SOME_HOSTS, (OLDER_OPEN_MPI, "n0")])
def test_preload_on_some_hosts(emulate, open_mpi, hosts, tmp_path):
    """Ranks that have the preload find out that others lack it, and agree on nothing. (MPICH hands it to all hosts.)"""
    if reason := open_mpi.missing():
        pytest.skip(reason)
    program = open_mpi.compile(HERE.parent / "preload/apart.c", tmp_path / "apart")
    line = emulate(open_mpi, "switch:3", "-n", 4, "--", "sh", "-c", ON_HOSTS, "sh", hosts, open_mpi.preload, program)
    done = subprocess.run(line, capture_output=True, text=True, timeout=180, check=False)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
    assert done.stderr.count(NOT_HANDED_ON) == (hosts == "n0"), done.stderr


HANDED_ON = {  # how the ranks get the preload, and how many of four ask mpirun whether those on other hosts have it
    "env": ("{mpirun} env LD_PRELOAD={preload} {program}", 0),
    "env of a script": ("{mpirun} env LD_PRELOAD={preload} sh -c 'exec {program}'", 4),
    "-x": ("{mpirun} -x LD_PRELOAD={preload} {program} '1 2' 3", 0),
    "-x and env": ("{mpirun} -x LD_PRELOAD={preload} env A=b {program}", 0),
    "script": ("{mpirun} sh -c 'LD_PRELOAD={preload} exec {program}'", 4),
    "daemons": ("LD_PRELOAD={preload} {mpirun} -x LD_PRELOAD {program}", 4),  # these have it from mpirun here
    "system's program": ("{mpirun} -x LD_PRELOAD={preload} /lib64/ld-linux-x86-64.so.2 {program}", 4),
    "linked": ("{mpirun} -x LD_PRELOAD= {program}", 4),
}


def over_two_hosts(open_mpi, words, source, folder, *flags):
    """The outcome of a shell's line: the program's four ranks over two hosts."""
    program = open_mpi.compile(source, Path(folder) / "program", *flags)
    with Emulation(read_network("switch:2")) as cluster:
        *inside, launched = cluster.launch_command(identify(Path(open_mpi.tool("mpiexec")))[0], 4, [])
        mpirun = launched.partition(" env ")[0]
        line = [*inside, words.format(mpirun=mpirun, preload=open_mpi.preload, program=program)]
        return subprocess.run(line, capture_output=True, text=True, timeout=180, check=False)


@pytest.mark.parametrize("how", HANDED_ON)
@pytest.mark.parametrize("open_mpi", [mpis.WHEELS[1], OLDER_OPEN_MPI], ids=lambda mpi: mpi.name)
def test_asks_only_what_ranks_cannot_see(emulate, open_mpi, how):
    """Answers of mpirun may take long, so ranks do not ask where they see that all hosts have the preload."""
    if reason := open_mpi.missing():
        pytest.skip(reason)
    library = open_mpi.preload
    linked = [library, f"-Wl,-rpath,{library.parent}"] if how == "linked" else []
    words, asking = HANDED_ON[how]
    with tempfile.TemporaryDirectory(dir=library.parent) as same_disk:
        done = over_two_hosts(open_mpi, words, HERE / "asks.c", same_disk, *linked)
    assert (done.returncode, done.stdout) == (0, f"{asking} asked\n"), done.stderr


@pytest.mark.parametrize("open_mpi", [mpis.WHEELS[1], OLDER_OPEN_MPI], ids=lambda mpi: mpi.name)
def test_preload_lies_on_one_host_only(emulate, open_mpi, tmp_path):
    """All ranks get the name of its file. But each host has a /dev/shm of its own, and mpirun is on the first."""
    if reason := open_mpi.missing():
        pytest.skip(reason)
    words = (
        "mkdir /dev/shm/shoal && cp {preload.parent}/*.so /dev/shm/shoal && "
        "{mpirun} env LD_PRELOAD=/dev/shm/shoal/{preload.name} {program}"
    )
    done = over_two_hosts(open_mpi, words, HERE.parent / "preload/apart.c", tmp_path)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
    assert done.stderr.count(NOT_HANDED_ON) == 1, done.stderr


def test_hosts_are_unknown(emulate, mpi, program, tmp_path):
    """If the topology is of other machines, the MPI's own collective serves, and one line says why."""
    other = tmp_path / "other"
    other.write_text("s0 m[0-3]\n")
    line = emulate(mpi, "switch:2", "--alltoall", "tree", "--", "env", f"SHOAL_TOPOLOGY={other}", program, 100)
    done = subprocess.run(line, capture_output=True, text=True, timeout=180, check=False)
    assert (done.returncode, done.stdout) == (0, "n0 n1 faults 0\n"), done.stderr
    said = [line for line in done.stderr.splitlines() if "SHOAL_TOPOLOGY" in line]
    assert len(said) == 1
    assert "rank 0 is on host 'n0', which the topology does not have; its machines are m[0-3]" in said[0]


@contextlib.contextmanager
def started_alone(line):
    """A process that gets SIGINT even if the tests run in the background, and that ends with the test."""

    def default_signals():
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=default_signals
    ) as started:
        try:
            yield started
        finally:
            started.kill()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda how: how.name)
def test_nothing_stays(emulate, how, program, mpi):
    """Whatever ends the command, even processes that the program left behind in sessions of their own are gone."""
    mark = f"left-behind-{os.getpid()}-{mpi.name}-{how.name}"
    line = emulate(mpi, "switch:2", "--", program, 1, mark)
    with started_alone(line) as started:
        assert started.stdout.readline() == b"waiting\n"
        wait_for(lambda: len(carrying(mark)) >= 2)
        started.send_signal(how)
        assert started.wait(20) == {signal.SIGINT: 130, signal.SIGTERM: 143}.get(how, -how)
    wait_for(lambda: not carrying(mark))


def carrying(mark):
    """Processes with this word in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # the process may have ended
            found += [path] if mark.encode() in path.read_bytes() else []
    return found


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "still not so after 20 s"
        time.sleep(0.01)


def test_status_is_the_programs(emulate, mpi):
    """With MPICH the program ends only when its input does: mpiexec may not survive a program that ends before it is
    connected."""
    program = ("sh", "-c", "read line; exit 7" if mpi.name == "mpich" else "exit 7")
    command = emulate(mpi, "switch:2", "-n", 1, "--", *program)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=180, check=False)
    assert done.returncode == 7


def test_room_is_apart(emulate):
    """Nobody else sees the switches and hosts, and the process that made them still sees its own network."""

    def links():
        return subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout

    before = links()
    with Emulation(read_network("line:2x2", "10M")) as cluster:
        inside = subprocess.run(cluster.inside(["ip", "-o", "link"]), capture_output=True, text=True, check=True).stdout
        assert inside.count("tbf") == 6 and inside.count(": b") == 2
        assert links() == before
        ports = cluster.traffic()
        assert {(port.node, port.to) for port in ports} >= {("s0", "s1"), ("s1", "s0"), ("n3", "s1"), ("s1", "n3")}
        assert not any(port.drops for port in ports)
    assert cluster.room.returncode == 0


def test_failure_says_why(emulate, monkeypatch):
    network = read_network("switch:2")
    cluster = Emulation(network)
    cluster.script = cluster.script.replace("mcast_snooping 0", "mcast_snoring 0")
    with pytest.raises(UserError, match=r"cannot be made here .*mcast_snoring"), cluster:
        pass
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("shoal.emulation.TOOLS", {"ip-of-nowhere": "iproute2"})
    with pytest.raises(UserError, match="emulation needs iproute2; get it with: apt-get install iproute2"), cluster:
        pass


@pytest.mark.parametrize(
    "text, says",
    [
        ("machine n0", "machine n0 has no link"),
        ("s0 a@b\ns0 c", "'a@b' cannot be the name of an emulated host"),
    ],
)
def test_networks_that_cannot_be(text, says):
    with pytest.raises(UserError, match=says):
        Emulation(shoal.parse_topology(text))


def test_forms_of_networks():
    assert read_network("switch:24").links == [("s0", f"n{n}", 1e9) for n in range(24)]
    star = read_network("star:4x8", "100mbit").links
    assert [link for link in star if link[1][0] == "s"] == [("s0", f"s{n}", 1e8) for n in (1, 2, 3)]
    line = read_network("line:4x8").links
    assert [link for link in line if link[1][0] == "s"] == [(f"s{n - 1}", f"s{n}", 1e9) for n in (1, 2, 3)]
    assert shoal.Tree(read_network("line:4x8")).phases == 256


def test_rate_keeps_proportions(tmp_path):
    (tmp_path / "net").write_text("hub s[0-1] 10G\ns0 n[0-1] 1G\ns1 n2 2.5G\n")
    speeds = {(a, b): speed for a, b, speed in read_network(str(tmp_path / "net"), "20M").links}
    assert speeds["hub", "s0"] == 200e6 and speeds["s0", "n0"] == 20e6 and speeds["s1", "n2"] == 50e6


@pytest.mark.parametrize(
    "args, says",
    [
        (["star:0x8", "--", "true"], "there are switch:24"),
        (["ring:4", "--", "true"], "ring:4: cannot be read"),
        (["switch:4", "--rate", "fast", "--", "true"], "--rate fast: not a bandwidth"),
        (["switch:4", "--", "no-such-program"], "no-such-program: no such program"),
    ],
)
def test_wrong_use(shoal_command, args, says):
    assert says in shoal_command.refused("emulate", *args)
