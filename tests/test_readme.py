"""The console examples of the README are what the commands print."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
#: Examples that take long, or whose run has to exist, are tested where their commands are.
ELSEWHERE = ("ehs-table", "verify", "sweep", "chart", "status")


def examples():
    """(command, the lines shown after it) of every console block, in order."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL):
        for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
            command, *lines = part.rstrip("\n").split("\n")
            words = shlex.split(command, comments=True)
            if words[1] not in ELSEWHERE:
                found.append(pytest.param(words, lines, id=" ".join(words[1:4])))
    return found


@pytest.mark.parametrize(("words", "lines"), examples())
def test_an_example_prints_what_the_readme_shows(words, lines, tmp_path):
    assert words[0] == "autohold"
    arguments = [str(tmp_path / word) if word == "RUN" else word for word in words[1:]]
    code = "from pipeline.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    shown = [line.rstrip() for line in lines if line.strip() not in ("", "…")]
    assert [line for line in shown if line not in printed] == []
    if "…" not in "".join(lines):
        assert shown == [line for line in printed if line]


def test_every_command_is_in_the_readme():
    from pipeline.cli import cli

    assert [name for name in cli.commands if f"`autohold {name}" not in README and f"`{name}`" not in README] == []
