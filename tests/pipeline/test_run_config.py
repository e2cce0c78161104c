"""Options from a file: every option of the command, the command line beats it, all faults at once."""

import json
import tomllib

import click
import pytest

from pipeline.commands.certify import certify
from pipeline.faults import ConfigError
from pipeline.run_config import RunConfig, read_run_config
from tests.pipeline.games import PARTS, ROOT, ROWS, SMALL, contents, log

WRITTEN = """\
games = ["games/six*.toml"]
out = "run"
rows-per-part = 50
serial = true
resume = true
log-format = "json"
json = true
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "six-by-four.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "night.toml").write_text(WRITTEN, encoding="utf-8")
    return tmp_path


def written(folder, text):
    (folder / "night.toml").write_text(text, encoding="utf-8")
    return folder / "night.toml"


def test_a_file_alone_is_the_whole_command(command, folder, whole, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    done = command("certify", "--run-config", folder / "night.toml")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["parts"] == {"missing": PARTS}
    assert contents(folder / "run") == contents(whole)
    assert [json.loads(line)["event"] for line in done.stderr.splitlines()] == [
        "start",
        "progress",
        "done",
        "certified",
    ]
    again = command("certify", "--run-config", folder / "night.toml")
    assert (again.returncode, json.loads(again.stdout)["computed"]) == (0, False)


def test_the_command_line_beats_the_file(command, folder, game_file):
    file = written(folder, WRITTEN + 'require = "2:"\npaytable = ["plain"]\n')
    assert command("certify", "--run-config", file).returncode == 1
    more = ("--require", "0.5:", "--out", folder / "other", "--paytable", "broken pays", "--rows-per-part", 100)
    done = command("certify", "--run-config", file, *more)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["run"] == str(folder / "other")
    assert [content["paytable"] for content in said["certificates"]] == ["broken pays"]
    assert said["parts"] == {"missing": 24}
    other = command("certify", folder / "none.toml", "--run-config", file)
    assert "none.toml: cannot be read" in other.stderr


def test_where_tasks_run_is_replaced_as_one(command, folder):
    file = written(folder, WRITTEN.replace("serial = true", 'scheduler = "tcp://127.0.0.1:1"'))
    done = command("certify", "--run-config", file, "--serial")
    assert done.returncode == 0, done.stderr
    assert log(folder / "run")[0]["executor"] == "this process"
    more = "".join(f'tls-{kind} = "night.toml"\n' for kind in ("ca", "cert", "key"))
    more += "wait-workers = 16\n"
    file = written(folder, WRITTEN.replace("serial = true", 'scheduler-file = "s.json"') + more)
    assert command("certify", "--run-config", file, "--serial").returncode == 0
    both = written(folder, WRITTEN + "workers = 2\n")
    assert "exclude each other" in command("certify", "--run-config", both).stdout


WRONG = {
    'outt = "x"': "outt: unknown key; did you mean out?",
    "q = 1": "q: unknown key; there are games, out,",
    "workers = 0": "workers: 0 is not in the range x>=1.",
    "workers = true": "workers: expected a whole number, found True",
    'tie-break = "coin"': "tie-break: 'coin' is not one of 'lowest-mask', 'least-variance', 'most-variance'.",
    'resume = "yes"': "resume: expected true or false, found 'yes'",
    'require = "2:1"': "require: '2:1': the minimum is above the maximum",
    'paytable = "9/6"': "paytable: expected a list, found '9/6'",
    "pay = [976]": "pay: expected text, found 976",
    'games = ["none*.toml"]': "games: 'none*.toml' fits no file in ",
    'wait-timeout = "60"': "wait-timeout: expected a number, found '60'",
    "[deck]": "deck: unknown key",
    "[out]": "out: expected text, found {}",
}


@pytest.mark.parametrize("text", WRONG)
def test_faults(command, folder, text):
    done = command("certify", "--run-config", written(folder, text + "\n"))
    assert done.returncode == 2
    assert f"{folder / 'night.toml'}: {WRONG[text]}" in done.stderr


def test_all_faults_at_once(command, folder):
    lines = [text for text in WRONG if not text.startswith(("[", "workers = true"))]
    done = command("certify", "--run-config", written(folder, "\n".join(lines)), "--json")
    assert done.returncode == 2
    message = json.loads(done.stdout)["error"]["message"]
    assert [line.startswith(f"{folder / 'night.toml'}: ") for line in message.splitlines()] == [True] * len(lines)
    assert all(WRONG[text] in message for text in lines)
    assert not (folder / "run").exists()


@pytest.mark.parametrize("content", [b"games = [", b"\xff", None])
def test_files_that_cannot_be_read(command, folder, content):
    path = folder / "night.toml"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    done = command("certify", "--run-config", path)
    assert done.returncode == 2
    assert f"{path}: {'cannot be read' if content is None else 'is not TOML'}" in done.stderr


def option(name):
    return next(parameter for parameter in certify.params if parameter.name == name)


def example(parameter):
    """A value that a file can have for a parameter, and the value that click makes of the same on a command line."""
    value = {"require": "0.8:1", "tie_break": "most-variance", "wait_timeout": 2.5}.get(parameter.name)
    if isinstance(parameter.type, click.Choice):
        value = parameter.type.choices[-1]
    if getattr(parameter, "is_flag", False):
        value = True
    if isinstance(parameter.type, click.types.IntParamType):
        value = 3
    if value is None:
        value = str(ROOT / "README.md")
    return [value] if parameter.multiple or parameter.nargs == -1 else value


def test_every_option_can_be_in_the_file(tmp_path):
    said = {}
    for parameter in certify.params:
        if not isinstance(parameter, RunConfig):
            said[max(parameter.opts, key=len).lstrip("-")] = (parameter.name, example(parameter))
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, (_, value) in said.items())
    path = tmp_path / "all.toml"
    path.write_text(text, encoding="utf-8")
    assert read_run_config(path, certify.params) == dict(said.values())
    assert {"games", "out", "paytable", "pay", "require", "limits", "scheduler", "metrics", "tls-ca"} <= set(said)


def test_paths_start_at_the_file(folder):
    text = 'games = ["games/six-by-four.toml", "/abs.toml"]\nout = "s3://bucket/run"\nmetrics = "../m.prom"\n'
    text += 'limits = ["nevada", "limits/own.toml"]\nscheduler-file = "s.json"\ntls-ca = "games/six-by-four.toml"\n'
    assert read_run_config(written(folder, text), certify.params) == {
        "games": [str(folder / "games/six-by-four.toml"), "/abs.toml"],
        "out": "s3://bucket/run",
        "metrics": str(folder / "../m.prom"),
        "limits": ["nevada", str(folder / "limits/own.toml")],
        "scheduler_file": str(folder / "s.json"),
        "tls_ca": str(folder / "games/six-by-four.toml"),
    }


def test_the_shipped_example():
    path = ROOT / "configs" / "cluster" / "nightly.toml"
    values = read_run_config(path, certify.params)
    assert len(values["games"]) == len(list((ROOT / "configs").glob("*.toml")))
    commented = path.read_text(encoding="utf-8").replace("\n#: ", "\n")
    keys = set(tomllib.loads(commented))
    assert keys == {max(p.opts, key=len).lstrip("-") for p in certify.params if not isinstance(p, RunConfig)}
    with pytest.raises(ConfigError) as caught:
        (path.parent / "none.toml").exists() or read_run_config(path.parent / "none.toml", certify.params)
    assert "cannot be read" in str(caught.value)


def test_rows(folder):
    assert read_run_config(folder / "night.toml", certify.params)["rows_per_part"] == ROWS
