"""Imports point one way, one package knows Dask, and the command does not load it before it is needed."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from evaluator.cards import ALIASES

ROOT = Path(__file__).parent.parent
MODULES = {
    path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__"): path
    for package in ("evaluator", "pipeline")
    for path in sorted((ROOT / package).rglob("*.py"))
}
NOT_PURE = {
    "pipeline", "dask", "distributed", "pandas", "pyarrow", "click", "pydantic", "matplotlib", "jinja2",
    "pathlib", "os", "io", "shutil", "tempfile", "time", "datetime", "random", "secrets", "logging", "subprocess",
    "socket", "multiprocessing", "threading",
}  # fmt: skip
"""what numbers in, numbers out does not need"""
WINS = {
    "royal", "flush", "straight", "quads", "full_house", "trips", "two_pair", "deuce", "deuces", "jacks", "kings",
    "aces", "sevens", "kicker",
}  # fmt: skip
"""words that only a game file or the table of numeric hand codes may know"""


def tree(module):
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def imported(module, nodes=None):
    """Full names of what a module imports, anywhere in it or only in some nodes; relative imports are not used."""
    names = set()
    for node in ast.walk(tree(module)) if nodes is None else nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: a relative import in line {node.lineno}"
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def roots(names):
    return {name.partition(".")[0] for name in names}


def test_there_is_something_to_check():
    assert {"evaluator.holds", "pipeline.cli", "pipeline.cluster"} <= set(MODULES)


@pytest.mark.parametrize("module", [module for module in MODULES if roots([module]) == {"evaluator"}])
def test_evaluator_is_pure(module):
    assert not roots(imported(module)) & NOT_PURE
    calls = {node.func.id for node in ast.walk(tree(module)) if isinstance(node, ast.Call) and hasattr(node.func, "id")}
    assert not calls & {"open", "print", "input", "eval", "exec", "__import__", "compile"}


def test_one_package_imports_dask():
    preload = "pipeline.steady_clock"  # which Dask loads by its name
    found = {module for module in MODULES if roots(imported(module)) & {"dask", "distributed", "dask_jobqueue"}}
    assert found == {preload, *(f"pipeline.cluster.{module}" for module in ("calls", "client", "connect", "jobs"))}
    assert preload not in {name for module in MODULES for name in imported(module)}


def test_the_package_does_not_import_tests():
    assert not [module for module in MODULES if "tests" in roots(imported(module))]


@pytest.mark.parametrize("package", ["evaluator", "pipeline"])
def test_no_cycles(package):
    """Also among imports within functions; those that only type checkers see do not count."""
    graph = {}
    for module in MODULES:
        if roots([module]) == {package}:
            nodes = _outside_type_checking(tree(module))
            graph[module] = {name for name in imported(module, nodes) if name in MODULES and name != module}
    assert list(TopologicalSorter(graph).static_order())


def _outside_type_checking(node):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from _outside_type_checking(child)


@pytest.mark.parametrize(
    "module", [module for module in MODULES if roots([module]) == {"evaluator"} and not module.endswith("handcode")]
)
def test_evaluator_knows_no_win(module):
    """No win is named in code, by a name or by a text; docstrings and messages for people may take an example."""
    code = tree(module)
    for_people = {
        id(text) for node in ast.walk(code) if isinstance(node, ast.Expr | ast.JoinedStr) for text in ast.walk(node)
    }
    said = set()
    for node in ast.walk(code):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in for_people and node.value not in ALIASES:
                said |= set(re.findall(r"[a-z_]+", node.value.casefold()))
        else:
            names = [getattr(node, field, None) for field in ("id", "name", "attr", "arg")]
            said |= {part for name in names if isinstance(name, str) for part in (name, *name.casefold().split("_"))}
    assert not said & WINS


# --- what a command loads ---------------------------------------------------------------------------------------------

RUN = """
import sys
sys.argv = ["autohold", *sys.argv[1:]]
from pipeline.cli import main
try:
    main()
finally:
    loaded = {name.partition(".")[0] for name in sys.modules}
    heavy = {"dask", "distributed", "pandas", "pyarrow", "numpy", "matplotlib"}
    print("LOADED", *sorted(loaded & heavy), file=sys.stderr)
"""


def loaded_by(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", RUN, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split()[1:])


def test_help_loads_nothing_heavy():
    assert loaded_by("--help") == set()
    assert loaded_by("certify", "--help") == set()


def test_serial_certify_and_hold_load_no_dask(tmp_path):
    game = tmp_path / "game.toml"
    game.write_text(
        'name = "Small"\n[deck]\nfaces = ["2", "3", "4"]\n[[win]]\nname = "pair"\nwhen = "some(a,b: same(aF,bF){4})"\n'
        "[paytable.even.pays]\npair = 1\n"
    )
    assert not loaded_by("certify", game, "--out", tmp_path / "run", "--serial") & {"dask", "distributed"}
    assert not loaded_by("hold", game, "2c 2d 3c 3d 4c") & {"dask", "distributed"}
    assert not loaded_by("count", game) & {"dask", "distributed"}
