"""What people install is the two packages, all that they read included, and nothing else."""

import shutil
import subprocess
import sys

from pipeline.manifest import code_digest
from tests.pipeline.games import ROOT, environment

PACKAGES = ("evaluator", "pipeline")


def files(root):
    """Path -> bytes of all that the packages are."""
    paths = [path for package in PACKAGES for path in (root / package).rglob("*")]
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in paths
        if path.is_file() and path.parent.name != "__pycache__"
    }


def test_an_installed_wheel_is_the_packages(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    for folder in (*PACKAGES, "configs", "tests"):
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source)
    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--no-compile")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", *offline, "--target", target, source]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert files(target) == files(ROOT)
    assert {path.name for path in target.iterdir() if path.suffix != ".dist-info"} == {*PACKAGES, "bin"}
    command, where = [target / "bin" / "autohold", "--version"], environment(PYTHONPATH=str(target))
    said = subprocess.run(command, cwd=tmp_path, env=where, capture_output=True, text=True, check=True).stdout
    assert f" code {code_digest()} " in said
