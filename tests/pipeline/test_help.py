"""What --help says: on a terminal of 80 columns, every sentence whole, every option explained."""

import re

import click
import pytest
from click.testing import CliRunner

from pipeline.cli import cli
from tests.pipeline.games import autohold


def shown(*words):
    done = CliRunner().invoke(cli, [*words, "--help"], terminal_width=80)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("words", [(), *((name,) for name in sorted(cli.commands))], ids=lambda words: " ".join(words))
def test_lines_fit_and_options_are_not_broken(words):
    lines = shown(*words).splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert [line for line in lines if re.search(r"--\w*-$", line)] == []


def test_the_list_of_commands_has_whole_sentences():
    listed = shown().partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == sorted(cli.commands)
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_option_says_what_it_is(name):
    options = [parameter for parameter in cli.commands[name].params if isinstance(parameter, click.Option)]
    assert [option.name for option in options if not option.help] == []
    # click says "INTEGER RANGE" of a number for which the option has no word of its own.
    assert "RANGE" not in shown(name).replace("--range RANGE", "")


def test_a_shell_completes_commands_and_options():
    for words, place, expected in (("autohold cer", 1, "certify"), ("autohold certify --all", 2, "--all-holds")):
        asked = {"_AUTOHOLD_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(place)}
        done = autohold(**asked)
        assert done.stdout == f"plain,{expected}\n"
