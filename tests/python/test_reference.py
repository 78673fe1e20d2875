"""The reference manuals can be built, and say everything."""

import ast
import re
import shutil
import subprocess

import pytest

from mpis import ROOT

HEADER = (ROOT / "include/shoal/shoal.h").read_text()
FUNCTIONS = re.findall(r"SHOAL_PUBLIC int (shoal_\w+)\(", HEADER)


@pytest.fixture(scope="module")
def manuals(tmp_path_factory):
    """Doxygen fails if the documentation of an argument or of a result is missing."""
    if not shutil.which("doxygen"):
        pytest.skip("there is no doxygen")
    output = tmp_path_factory.mktemp("reference")
    done = subprocess.run([ROOT / "tools/reference", output], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return output


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_of_the_header(manuals, function):
    """Its section says what it does, every argument, and the result."""
    page = (manuals / "c/shoal_8h.html").read_text()
    section = page.split(f"{function}()</h2>")[1].split("<h2")[0]
    arguments = re.findall(r"(\w+)(?:\[\])?(?:,|$)", re.search(rf"int {function}\(([^)]*)\)", HEADER).group(1))
    shown = re.findall(r'class="paramname">(\w+)</td><td>(.+)', section)
    assert sorted(name for name, _ in shown) == sorted(arguments)
    assert '<dl class="section return">' in section


def test_package(manuals):
    page = (manuals / "python/shoal.html").read_text()
    names = re.search(r"__all__ = (\[.*?\])", (ROOT / "python/shoal/__init__.py").read_text(), re.DOTALL).group(1)
    assert [name for name in ast.literal_eval(names) if f'id="{name}"' not in page] == []


def is_property(node):
    return any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)


def test_every_class_and_function_of_the_package():
    """Except properties: their names say all."""
    stub = ast.parse((ROOT / "python/shoal/_core.pyi").read_text())
    nodes = [node for node in ast.walk(stub) if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    public = [node for node in nodes if not node.name.startswith("_") and not is_property(node)]
    assert len(public) > 50
    assert [node.name for node in public if not ast.get_docstring(node)] == []
