"""docs/cluster.md on a real Slurm: tools/slurm starts a controller and four nodes on this machine, and stops them."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mpis
from mpis import ROOT, served

SHOAL = Path(sys.prefix) / "bin/shoal"
FLAVOURS = {"mpich": "pmi2", "openmpi": "pmix"}  # how each MPI learns its ranks from srun
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
int main(int count, char **words) {
  int out[16], in[16], rank, ranks, wrong = 0, all;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < ranks; ++i) out[i] = 100 * rank + i;
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) wrong += in[i] != 100 * i + rank;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d wrong\\n", ranks, all);
  return MPI_Finalize();
}
"""
FORCED = {"SHOAL_ALLTOALL": "bruck", "SHOAL_REPORT": "1"}
PROFILE = """format = 1
ranks = 4
[alltoall]
microseconds = [{ block = 4, native = 9, "tuna:radix=3" = 3 }, { block = 64, native = 9, "tuna:radix=3" = 3 }]
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The environment in which srun finds the cluster."""
    path = os.environ["PATH"] + ":/usr/sbin"
    lacking = [tool for tool in ("slurmctld", "slurmd", "munged", "srun") if not shutil.which(tool, path=path)]
    if lacking or os.geteuid() != 0:
        pytest.skip(f"needs root, and {', '.join(lacking) or 'nothing else'} (Debian: slurm-wlm, munge)")
    folder = tmp_path_factory.mktemp("slurm") / "cluster"
    subprocess.run([ROOT / "tools/slurm", "up", folder], check=True, timeout=300)
    yield os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
    subprocess.run([ROOT / "tools/slurm", "down", folder], check=True, timeout=300)
    assert not folder.exists() and not processes_of(folder)


def test_cluster_that_does_not_start_says_why(tmp_path):
    """Its logs are gone with the rest of the folder."""
    (tmp_path / "munged").write_text("#!/bin/sh\n")
    (tmp_path / "slurmctld").write_text('#!/bin/sh\necho "no such plugin" >"${SLURM_CONF%/*}/slurmctld.log"; exit 1\n')
    for tool in ("munged", "slurmctld"):
        (tmp_path / tool).chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    up = [ROOT / "tools/slurm", "up", tmp_path / "cluster"]
    done = subprocess.run(up, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1 and "no such plugin" in done.stderr, done.stderr
    assert not (tmp_path / "cluster").exists()


def processes_of(folder):
    """The processes whose environment names the folder."""
    name = str(folder).encode()
    return [path for path in Path("/proc").glob("[0-9]*/environ") if name in read(path)]


def read(path):
    try:
        return path.read_bytes()
    except OSError:  # the process has ended
        return b""


@pytest.fixture(params=mpis.WHEELS, ids=lambda mpi: mpi.name)
def job(request, cluster, tmp_path):
    """An MPI, the command by which srun starts its ranks on two nodes, and a program."""
    mpi = request.param
    if mpi.missing():
        pytest.skip(mpi.missing())
    flavour = FLAVOURS[mpi.name]
    kinds = subprocess.run(["srun", "--mpi=list"], env=cluster, capture_output=True, text=True, check=True)
    if flavour not in kinds.stdout + kinds.stderr:
        pytest.skip(f"this Slurm has no {flavour}")
    (tmp_path / "program.c").write_text(PROGRAM)
    return mpi, ["srun", "-N", "2", "-n", "4", f"--mpi={flavour}"], mpi.compile(tmp_path / "program.c", tmp_path / "p")


def run(command, env):
    done = subprocess.run(
        list(map(str, command)), env=env, capture_output=True, text=True, timeout=300, start_new_session=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_shoal_run(job, cluster):
    _, srun, program = job
    done = run([SHOAL, "run", "--launcher", " ".join(srun), "--alltoall", "bruck", "--report", "--", program], cluster)
    assert done.stdout == "4 ranks, 0 wrong\n" and served(done) == {("alltoall", "bruck"): 1}


def test_module(job, cluster):
    """What a module sets reaches the ranks, and does not affect srun or any shell."""
    mpi, srun, program = job
    shell = 'true && exec "$0"'
    done = run([*srun, "sh", "-c", shell, program], cluster | FORCED | {"LD_PRELOAD": str(mpi.preload)})
    assert done.stdout == "4 ranks, 0 wrong\n" and served(done) == {("alltoall", "bruck"): 1}


def test_module_file(job, cluster, tmp_path):
    """Lmod loads the module of docs/cluster.md, which serves a job, and takes it out of the shell again."""
    init = Path(os.environ.get("LMOD_PKG", "/usr/share/lmod/lmod"), "init/bash")
    if not init.exists():
        pytest.skip("there is no Lmod (Debian: lmod)")
    mpi, srun, program = job
    (text,) = re.findall(r"```lua\n(.*?)```", (ROOT / "docs/cluster.md").read_text(), re.DOTALL)
    places = {
        "/apps/shoal/lib/python3.11/site-packages/shoal/preload": mpi.build.parent,
        "/apps/shoal/bin": SHOAL.parent,
    }
    for documented, here in places.items():
        text = text.replace(documented, str(here))
    assert "/apps/" not in text and str(mpi.preload) in text
    (tmp_path / "shoal.lua").write_text(text)
    script = f'''. {init}
        module use {tmp_path}
        module load shoal
        command -v shoal
        {shlex.join([*srun, str(program)])}
        module unload shoal
        echo "${{LD_PRELOAD-without LD_PRELOAD}}"'''
    path = os.pathsep.join(place for place in os.get_exec_path() if Path(place) != SHOAL.parent)
    done = run(["bash", "-c", script], cluster | FORCED | {"PATH": path})
    assert done.stdout.splitlines() == [str(SHOAL), "4 ranks, 0 wrong", "without LD_PRELOAD"], done.stderr
    assert served(done) == {("alltoall", "bruck"): 1}


def test_task_prolog(job, cluster, tmp_path):
    """A task prolog serves every job of a partition, without a module."""
    mpi, srun, program = job
    prolog = tmp_path / "prolog"
    settings = FORCED | {"LD_PRELOAD": str(mpi.preload)}
    prolog.write_text("#!/bin/sh\n" + "".join(f"echo export {name}={value}\n" for name, value in settings.items()))
    prolog.chmod(0o755)
    done = run([*srun, f"--task-prolog={prolog}", program], cluster)
    assert done.stdout == "4 ranks, 0 wrong\n" and served(done) == {("alltoall", "bruck"): 1}


@pytest.fixture(scope="module")
def large(cluster):
    """A partition beside the default one."""
    run(["scontrol", "create", "PartitionName=large", "Nodes=ALL", "State=UP"], cluster)
    return "large"


def test_profile_of_a_partition(job, cluster, large, tmp_path):
    """With the prolog of docs/cluster.md, jobs of one partition begin with its profile. Others run without Shoal."""
    mpi, srun, program = job
    (text,) = re.findall(r"```sh\n(#!/bin/sh\n.*?)```", (ROOT / "docs/cluster.md").read_text(), re.DOTALL)
    (tmp_path / "large.toml").write_text(PROFILE)
    for name, path in (("LD_PRELOAD", mpi.preload), ("SHOAL_PROFILE", tmp_path / "large.toml")):
        text, changed = re.subn(rf"(?<={name}=)\S+", str(path), text)
        assert changed == 1
    prolog = tmp_path / "prolog"
    prolog.write_text(text)
    prolog.chmod(0o755)
    for partition, calls in ((large, {("alltoall", "tuna:radix=3"): 1}), ("all", {})):
        command = [*srun, f"--partition={partition}", f"--task-prolog={prolog}", program]
        done = run(command, cluster | {"SHOAL_REPORT": "1"})
        assert (done.stdout, served(done)) == ("4 ranks, 0 wrong\n", calls), done.stderr


def test_topology_of_the_controller(cluster, tmp_path):
    told = run(["scontrol", "show", "topology"], cluster).stdout
    (tmp_path / "topology").write_text(told)
    shown = run([SHOAL, "topology", "show", tmp_path / "topology"], cluster).stdout
    assert "4 ranks" in shown and "rack0" in shown and "n[0-1]" in shown


def test_tree_on_the_topology_of_the_controller(job, cluster, tmp_path):
    """`tree` finds the ranks by the host names of their nodes."""
    _, srun, program = job
    (tmp_path / "topology").write_text(run(["scontrol", "show", "topology"], cluster).stdout)
    launcher = " ".join([*srun, "-N", "4"])  # the last -N counts: a rank on each node
    command = [SHOAL, "run", "--launcher", launcher, "--alltoall", "tree", "--report", "--", program]
    done = run(command, cluster | {"SHOAL_TOPOLOGY": str(tmp_path / "topology")})
    assert done.stdout == "4 ranks, 0 wrong\n" and served(done) == {("alltoall", "tree"): 1}, done.stderr
