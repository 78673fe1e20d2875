"""The recipe for conda says what the project says, and rattler-build, if it is there, renders it for each MPI."""

import re
import tomllib

import pytest

import mpis

RECIPE = mpis.ROOT / "packaging/conda"
PROJECT = tomllib.loads((mpis.ROOT / "pyproject.toml").read_text())


def names(requirements):
    return {re.split("[ >=]", one)[0].removesuffix("-base") for one in requirements}


@pytest.fixture
def recipe():
    return pytest.importorskip("yaml").safe_load((RECIPE / "recipe.yaml").read_text())


def test_says_what_the_project_says(recipe):
    assert recipe["context"]["version"] == PROJECT["project"]["version"]
    needs = recipe["requirements"]
    assert names(PROJECT["project"]["dependencies"]) <= names(needs["run"])
    assert names(PROJECT["build-system"]["requires"]) <= names(needs["host"])
    least = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", (mpis.ROOT / "CMakeLists.txt").read_text()).group(
        1
    )
    assert f"cmake >={least}" in needs["build"]


def test_options_of_cmake_are_there(recipe):
    known = "".join(path.read_text() for path in [mpis.ROOT / "CMakeLists.txt", *(mpis.ROOT / "cmake").glob("*.cmake")])
    used = set(re.findall(r"(?:-D|cmake\.define\.)(\w+)=", " ".join(recipe["build"]["script"])))
    assert {"SHOAL_MPI", "MPI_C_COMPILER"} <= used
    assert {name for name in used if not name.startswith("CMAKE_") and name not in known} == set()


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_is_rendered(mpi):
    tool = pytest.importorskip("rattler_build")
    variants = tool.VariantConfig.from_file(str(RECIPE / "variants.yaml"))
    rendered = tool.Stage0Recipe.from_file(str(RECIPE / "recipe.yaml")).render(variants)
    made = [one.recipe.to_dict()["requirements"] for one in rendered]
    assert [set(one["run"]) & {"mpich", "openmpi"} for one in made].count({mpi}) == 1
