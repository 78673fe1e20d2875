"""The MPIs' own tuning files: what is put into them, and that the MPIs read them."""

import json
import math
import subprocess

import pytest

from shoal import mpi_tuning, tuning
from shoal.commands.bench import choose_mpis
from shoal.errors import UserError
from shoal.mpi import launch_command, launch_environment
from shoal.mpi_tuning import Step

RANKS = 4
FOUND = {
    "mpich": {"alltoall": [Step(100, "brucks"), Step(2000, "native"), Step(math.inf, "pairwise")]},
    "openmpi": {
        "alltoall": [Step(100, "modified_bruck"), Step(2000, "native"), Step(math.inf, "pairwise")],
        "alltoallv": [Step(math.inf, "linear")],
    },
}


def table(*rows):
    made = tuning.Table([])
    for size, medians in rows:
        made.add({size: {name: [time] for name, time in medians.items()}})
    return made


def test_steps_lie_between_sizes_with_different_winners():
    measured = table(
        (8, {"native": 9.0, "a": 3.0, "b": 4.0}),
        (64, {"native": 9.0, "a": 3.0, "b": 4.0}),
        (6400, {"native": 9.0, "a": 8.8, "b": 20.0}),  # almost as fast as native
        (25600, {"native": 50.0, "a": 30.0, "b": 20.0}),
    )
    assert mpi_tuning.steps(measured) == [Step(12288, "a"), Step(math.inf, "b")]


def test_a_change_has_to_pay():
    sizes = [8 << k for k in range(10)]
    noisy = [{"native": 10.0, "a": 11.5 - 3 * (k % 2)} for k in range(10)]
    assert mpi_tuning.steps(table(*zip(sizes, noisy, strict=True))) == [Step(math.inf, "native")]
    clear = [{"native": 10.0, "a": 5.0 if k < 5 else 12.0} for k in range(10)]
    assert mpi_tuning.steps(table(*zip(sizes, clear, strict=True))) == [Step(192, "a"), Step(math.inf, "native")]


def test_one_for_all_sizes_is_never_far_behind():
    measured = table((8, {"native": 9.0, "a": 3.0, "b": 4.0}), (64, {"native": 9.0, "a": 30.0, "b": 10.0}))
    assert mpi_tuning.for_all_sizes(measured) == [Step(math.inf, "b")]
    assert mpi_tuning.for_all_sizes(table((8, {"native": 9.0, "a": 8.8}))) == [Step(math.inf, "native")]


def test_rules_of_open_mpi_are_for_these_ranks_only():
    text = mpi_tuning.openmpi_rules(8, FOUND["openmpi"])
    numbers = [line.partition("#")[0].split() for line in text.splitlines()]
    alltoall = [["1"], ["1"], ["0", "0", "0", "0"], ["8"], ["3"]]
    alltoall += [["0", "3", "0", "0"], ["801", "0", "0", "0"], ["16001", "2", "0", "0"]]
    alltoallv = [["1"], ["1"], ["0", "0", "0", "0"], ["8"], ["1"], ["0", "1", "0", "0"]]
    others = [["9"], ["1"], ["0", "0", "0", "0"]]
    assert numbers == [["2"], ["3"], ["3"], *alltoall, *others, ["4"], ["3"], *alltoallv, *others]


def test_tree_of_mpich_keeps_what_is_not_tuned(tmp_path):
    usual = {"comm_size=any": {"algorithm=MPIR_Alltoall_intra_scattered": {}}}
    own = {
        "collective=bcast": {"algorithm=MPIR_Bcast_intra_binomial": {}},
        "collective=alltoall": {"comm_type=intra": {"is_sendbuf_inplace=yes": {}, "is_sendbuf_inplace=no": usual}},
    }
    library = tmp_path / "libmpi.so"
    library.write_bytes(b'x\0{"collective=bcast":{}}\0' + json.dumps(own).replace(" ", "").encode() + b"\0y")
    tree = json.loads(mpi_tuning.mpich_tree(library, 8, FOUND["mpich"]["alltoall"]))
    assert tree["collective=bcast"] == own["collective=bcast"]
    branch = tree["collective=alltoall"]["comm_type=intra"]["is_sendbuf_inplace=no"]
    assert list(branch) == ["comm_size<=7", "comm_size<=8", "comm_size=any"]
    assert branch["comm_size<=7"] == branch["comm_size=any"] == usual
    assert branch["comm_size<=8"] == {
        "avg_msg_size<=100": {"algorithm=MPIR_Alltoall_intra_brucks": {}},
        "avg_msg_size<=2000": usual,
        "avg_msg_size=any": {"algorithm=MPIR_Alltoall_intra_pairwise": {}},
    }


def test_library_without_a_tree_is_refused(tmp_path):
    (tmp_path / "libmpi.so").write_bytes(b"nothing")
    with pytest.raises(UserError, match="MPICH 5"):
        mpi_tuning.own_tree(tmp_path / "libmpi.so")


def exchange(mpi, path):
    """Exchanges two sizes by the MPI's own collectives, verified."""
    variables = dict(word.split("=", 1) for word in mpi_tuning.READ_BY[mpi.kind].format(path=path).split())
    variables["LD_LIBRARY_PATH"] = str(mpi.library.parent)
    program = [
        str(mpi.preload.parent / "shoal_bench"),
        "--variants",
        "native",
        "--sizes",
        "8,4000",
        "--seconds",
        "0.01",
    ]
    command = launch_command(mpi, RANKS, [*program, "--distributions", "uniform,random"], variables)
    return subprocess.run(
        ["timeout", "-k", "5", "180", *command], capture_output=True, text=True, env=launch_environment(), check=False
    )


@pytest.mark.parametrize("kind", ["mpich", "openmpi"])
def test_mpi_reads_its_file(kind, tmp_path):
    """With an algorithm in it that the MPI has not, it fails: so it looks at the branch for these ranks."""
    try:
        mpi = choose_mpis(f"{kind}5")[0]
    except UserError as error:
        pytest.skip(str(error))
    path = tmp_path / "tuned"
    text = mpi_tuning.write(kind, mpi.library, RANKS, FOUND[kind])
    path.write_text(text)
    done = exchange(mpi, path)
    assert done.returncode == 0 and done.stdout.count('"verified": true') == 4, done.stderr[-2000:]
    wrong = text.replace("0 3 0 0", "0 77 0 0") if kind == "openmpi" else text.replace("intra_brucks", "intra_brooks")
    assert wrong != text
    path.write_text(wrong)
    assert exchange(mpi, path).returncode != 0


def test_export_of_what_this_machine_measures(shoal_command, tmp_path):
    try:
        choose_mpis("mpich5")
    except UserError as error:
        pytest.skip(str(error))
    path = tmp_path / "tuned.json"
    status, out, _ = shoal_command("tune", "-n", 2, "--mpi", "mpich5", "--seconds", 1, "--export", path)
    text = " ".join(out.split())
    assert status == 0 and "alltoallv: this MPI has one algorithm for it, so there is nothing to choose" in text
    assert str(path) in out.replace("\n", "") and "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=" in out
    assert "collective=alltoall" in json.loads(path.read_text())


def test_export_for_another_mpi_is_refused(shoal_command, tmp_path):
    assert "no folder" in shoal_command.refused("tune", "-n", 2, "--export", tmp_path / "no" / "file")
    try:
        choose_mpis("impi")
    except UserError as error:
        pytest.skip(str(error))
    assert "mpich and openmpi" in shoal_command.refused("tune", "-n", 2, "--mpi", "impi", "--export", tmp_path / "x")
