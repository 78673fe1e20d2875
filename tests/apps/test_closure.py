"""The transitive closure is right with every way to exchange."""

import networkx
import pytest

import mpis

# Observed graphs from the package networkx, with each edge both ways: who was a friend of whom, who shared a scene.
REAL = {"karate": networkx.karate_club_graph, "miserables": networkx.les_miserables_graph}


@pytest.fixture(params=mpis.WHEELS, ids=lambda mpi: mpi.name)
def mpi(request):
    if request.param.missing():
        pytest.skip(request.param.missing())
    return request.param


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with one small graph, a ring with a tail, as Matrix Market and as a list of edges."""
    folder = tmp_path_factory.mktemp("graphs")
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5)]
    lines = [f"{a + 1} {b + 1} 1.0" for a, b in edges]
    header = ["%%MatrixMarket matrix coordinate real general", "% a comment", f"6 6 {len(edges)}"]
    (folder / "matrix").write_text("\n".join(header + lines))
    (folder / "edges").write_text("\n".join(["# a comment", *(f"{a} {b}" for a, b in edges)]))
    return folder


@pytest.mark.parametrize(
    ("graph", "ranks", "spec"),
    [("road:150", 4, "auto"), ("power:300", 3, "tuna:radix=2"), ("matrix", 1, "auto"), ("edges", 3, "native")],
)
def test_closure(mpi, files, graph, ranks, spec):
    what = graph if ":" in graph else files / graph
    run = mpi.run(ranks, [mpi.build / "closure", what, "--check"], preload=False, SHOAL_ALLTOALLV=spec)
    assert run.returncode == 0 and "equal to the serial closure" in run.stdout, run.stdout + run.stderr
    assert ":" in graph or "25 paths" in run.stdout  # from the ring 4 x 6, and one from 4 to 5


@pytest.mark.parametrize(("name", "spec"), [("karate", "native"), ("miserables", "auto")])
def test_closure_of_a_real_graph(mpi, tmp_path, name, spec):
    """The graph is connected, so every vertex reaches all vertices, and itself too."""
    graph = networkx.convert_node_labels_to_integers(REAL[name]()).to_directed()
    networkx.write_edgelist(graph, tmp_path / name, data=False)
    run = mpi.run(4, [mpi.build / "closure", tmp_path / name, "--check"], preload=False, SHOAL_ALLTOALLV=spec)
    assert run.returncode == 0 and "equal to the serial closure" in run.stdout, run.stdout + run.stderr
    assert f"{len(graph) ** 2} paths" in run.stdout


def test_wrong_graph(mpi, files):
    (files / "wrong").write_text("1 2\nthree four\n")
    run = mpi.run(2, [mpi.build / "closure", files / "wrong"], preload=False)
    assert run.returncode != 0 and run.stderr.count("line 2: two vertices were expected: three four") == 1
