"""The help of every command ends with examples, which are right; a wrong call names the help to read."""

import shlex
import subprocess
import sys

import pytest
import typer

from plimsoll.cli.cli import app
from plimsoll.cli.options.examples import EXAMPLES
from tests.each import each


def commands(group=app, of=""):
    """The names of all commands: `review`, `rules list`."""
    named = [f"{of}{one.name}" for one in group.registered_commands if not one.hidden]
    return named + [
        name
        for one in group.registered_groups
        if one.typer_instance
        for name in commands(one.typer_instance, f"{of}{one.name} ")
    ]


def helped(capsys, *arguments):
    app([*arguments], prog_name="plimsoll", standalone_mode=False)
    return capsys.readouterr().out


@each(commands(), str)
def test_help_ends_with_examples(command, capsys):
    lines = helped(capsys, *command.split(), "-h").rstrip().splitlines()
    at = next(at for at, line in enumerate(lines) if line.strip() == "Examples:")
    assert [line.strip() for line in lines[at + 1 :]] == list(EXAMPLES[command])


@each([line for lines in EXAMPLES.values() for line in lines], str)
def test_options_of_examples_exist(line, capsys):
    program, *arguments = shlex.split(line)
    assert program == "plimsoll"
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments  # what follows is for another command
    assert helped(capsys, *own, "--help").startswith("Usage: plimsoll ")


def test_an_option_that_does_not_exist_is_told_also_before_help(capsys):
    with pytest.raises(typer.TyperException, match="No such option"):
        helped(capsys, "review", "log.csv", "--no-such-option", "--help")


def test_a_wrong_call_names_the_help_of_its_command(plimsoll):
    for call in (["review", "--odd"], ["rules", "list", "--odd"], ["rules", "--odd"], ["--odd"]):
        where = " ".join(one for one in call if one != "--odd")
        assert plimsoll(*call).err.rstrip().endswith(f"See {f'plimsoll {where}'.strip()} --help.")


def test_shells_complete_commands():
    done = subprocess.run(
        [sys.executable, "-c", "from plimsoll.cli.cli import main; main()"],
        env={"_PLIMSOLL_COMPLETE": "complete_bash", "COMP_WORDS": "plimsoll rev", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["review"]
