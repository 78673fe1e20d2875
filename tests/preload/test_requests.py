"""Nonblocking and persistent all-to-alls behind requests of the MPI's own, if a setting names an algorithm."""

import pytest

import mpis
from mpis import left, served


def by(algorithm):
    return dict.fromkeys(["SHOAL_ALLTOALL", "SHOAL_ALLTOALLV", "SHOAL_ALLTOALLW"], algorithm)


ASKED = by("tuna:radix=2")
CRASHES = "Open MPI's own crashes where a communicator is freed early"
NONBLOCKING = ["wait_in_any_order", "go_on", "free_early", "mix_with_blocking", "use_threads"]

FIRST = """
#include <mpi.h>
int main(int count, char** words) {
  MPI_Init(&count, &words);
  char out[8] = {0}, in[8];
  for (int i = 0; i < 2; ++i) {
    MPI_Request open;
    MPI_Ialltoall(out, 1, MPI_CHAR, in, 1, MPI_CHAR, MPI_COMM_WORLD, &open);
    MPI_Wait(&open, MPI_STATUS_IGNORE);
    if (i == 0) MPI_Alltoall(out, 1, MPI_CHAR, in, 1, MPI_CHAR, MPI_COMM_WORLD);
  }
  return MPI_Finalize();
}
"""


def run(mpi, compiled, ranks, *arguments, **variables):
    program = compiled(mpi, "requests.c", "-lpthread")
    done = mpi.run(ranks, [program, *arguments], timeout=300, SHOAL_REPORT=1, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == ["faults:", "0"]
    return done


@pytest.mark.parametrize("ranks", [2, 3, 5])
@pytest.mark.parametrize("part", NONBLOCKING)
def test_nonblocking(mpi, compiled, part, ranks):
    if part == "free_early" and mpi.name == "openmpi":
        pytest.skip(CRASHES)
    done = run(mpi, compiled, ranks, part, **ASKED)
    assert not left(done) and {how for _, how in served(done)} == {"tuna:radix=2"}


def test_requests_go_where_the_algorithm_cannot_serve(mpi, compiled):
    done = mpi.run(2, [compiled(mpi, "declined.c", "-rdynamic", "-ldl")], SHOAL_ALLTOALL="tree")
    assert (done.returncode, done.stdout) == (0, "requests left: 0\n"), done.stdout + done.stderr


@pytest.mark.parametrize("algorithm", ["spread_out", "native"])
def test_types_go_with_their_attributes(mpi, compiled, algorithm):
    run(mpi, compiled, 3, "free_types", 10, **by(algorithm))


@pytest.mark.parametrize("ranks", [2, 4])
def test_persistent(mpi, compiled, ranks):
    done = run(mpi, compiled, ranks, "repeat", 50, **ASKED)
    calls = served(done)
    assert not left(done) and (calls["alltoallv", "tuna:radix=2"], calls["alltoallw", "tuna:radix=2"]) == (100, 50)


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("by_messages", [False, True])
def test_persistent_starts_have_no_order(mpi, compiled, by_messages, ranks):
    layout = {"SHOAL_LAYOUT": ",".join("1" * ranks)} if by_messages else {}
    done = run(mpi, compiled, ranks, "start_in_any_order", 50, **ASKED, **layout)
    assert not left(done) and {by for _, by in served(done)} == {"tuna:radix=2"}


def test_info_of_a_persistent_one_names_the_algorithm(mpi, compiled):
    """Rank 0 of the communicator, here rank 2 of the world, warns of an unknown key."""
    done = run(mpi, compiled, 4, "name_by_info", 5)
    assert served(done)["alltoall", "tuna:radix=2"] == 5 and not left(done), done.stderr
    assert done.stderr.count("unknown key shoal_alltoal (did you mean shoal_alltoall?)") == 1, done.stderr


def test_many_are_prepared(mpi, compiled):
    run(mpi, compiled, 2, "prepare_many", 6000, **ASKED)


def test_exchanges_move_in_collectives_of_the_mpis_own(mpi, compiled):
    done = run(mpi, compiled, 3, "meet_meanwhile", 18, SHOAL_ALLTOALL="tuna:radix=2")
    assert served(done) == {("alltoall", "tuna:radix=2"): 1 + 18, ("alltoallv", "native"): 6} and not left(done)


def test_one_is_held_open_until_tags_come_round_again(mpi, compiled):
    """With the MPI's largest tag, Shoal has tags for 32767 exchanges on Open MPI, and for 16384 on MPICH."""
    times = 33000 if mpi.name == "openmpi" else 17000
    done = run(mpi, compiled, 2, "hold_one", times, SHOAL_ALLTOALL="tuna:radix=2")
    assert served(done) == {("alltoall", "tuna:radix=2"): 2 + times} and not left(done)


def test_freed_beside_another_thread(mpi, compiled):
    run(mpi, compiled, 3, "free_beside", 100, **ASKED)


def test_first_calls_are_the_mpis(mpi, tmp_path):
    """No rank may wait in them, so Shoal sets up nothing there."""
    (tmp_path / "first.c").write_text(FIRST)
    mpi.compile(tmp_path / "first.c", tmp_path / "first")
    done = mpi.run(3, [tmp_path / "first"], SHOAL_REPORT=1, **ASKED)
    assert done.returncode == 0 and left(done) == {"ialltoall": 1}, done.stdout + done.stderr
    assert served(done) == {("alltoall", "tuna:radix=2"): 2}


@pytest.mark.parametrize("algorithm", ["spread_out", "pairwise", "hierarchical", "shared", "two_phase"])
def test_other_algorithms(mpi, compiled, algorithm):
    asked = by(algorithm) | {"SHOAL_LAYOUT": "2,2"}
    for part in ("mix_with_blocking", "repeat"):
        assert {how for _, how in served(run(mpi, compiled, 4, part, 5, **asked))} == {algorithm}


@pytest.mark.parametrize(("part", "exchanges"), [("mix_with_blocking", 1 + 5 * 3), ("repeat", 1 + 5 * 4)])
def test_results_are_compared_and_traffic_is_recorded(mpi, compiled, tmp_path, part, exchanges):
    """Each part is done five times. Before that there is a blocking call."""
    done = run(mpi, compiled, 3, part, 5, **ASKED, SHOAL_VERIFY=1, SHOAL_RECORD=tmp_path / "traffic.mtx")
    assert "verified" in done.stderr
    assert f"over {exchanges} exchanges" in (tmp_path / "traffic.mtx").read_text()


def test_mistakes_are_told(mpi, compiled):
    if mpi.name == "openmpi":
        pytest.skip("its own collectives end programs that make them")
    run(mpi, compiled, 3, "mistake", 2, **ASKED)


def test_limited_memory_is_for_the_mpi(mpi, compiled):
    done = run(mpi, compiled, 3, "wait_in_any_order", 5, **ASKED, SHOAL_MAX_TEMP="64M")
    assert set(served(done)) == {("alltoall", "tuna:radix=2")}  # the blocking ones
    assert "(SHOAL_MAX_TEMP, device memory, " in done.stderr


@pytest.mark.parametrize("part", NONBLOCKING)
def test_unasked(mpi, compiled, part):
    if part == "free_early" and mpi.name == "openmpi":
        pytest.skip(CRASHES)
    done = run(mpi, compiled, 2, part, 3)
    assert left(done)["ialltoallv"] > 0


def test_left_under_way(mpi, compiled):
    """MPI forbids this. Shoal does not crash, if the MPI itself ends."""
    if mpi.name == "openmpi":
        pytest.skip("its MPI_Finalize is not known to end")
    program = compiled(mpi, "requests.c", "-lpthread")
    done = mpi.run(2, [program, "leave_open"], **ASKED)
    assert "faults: 0" in done.stdout
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["mpich-3.4.3", "mpich-4.0", "mpich-4.3", "openmpi-4.1", "impi", "standard"])
def test_other_mpis(compiled, name):
    """An MPI that cannot move Shoal's exchanges serves such calls itself."""
    mpi = next(one for one in [*mpis.OTHERS, mpis.INTEL, mpis.STANDARD] if one.name == name)
    if mpi.missing():
        pytest.skip(mpi.missing())
    variables = {"LD_LIBRARY_PATH": mpi.libraries} if "impi" in name else {}
    for part in NONBLOCKING:
        if part != "free_early" or "openmpi" not in name:
            done = run(mpi, compiled, 3, part, 5, **ASKED, **variables)
            assert bool(left(done)) != (name in ("mpich-4.3", "openmpi-4.1"))


@pytest.mark.parametrize("part", ["repeat", "start_in_any_order", "prepare_many"])
def test_persistent_ones_of_the_standard_abi(compiled, part):
    """No function of that ABI lets the MPI move Shoal's exchanges, so the MPI serves such calls itself."""
    if mpis.STANDARD.missing():
        pytest.skip(mpis.STANDARD.missing())
    done = run(mpis.STANDARD, compiled, 3, part, 5, **ASKED)
    assert {"alltoallv_init", "alltoallw_init"} <= set(left(done))
