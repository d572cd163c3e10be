"""The help of every command ends with examples, which are right; a wrong call names the help to read."""

import shlex
import subprocess
import sys

import pytest
import typer

from plimsoll.cli.cli import COMMANDS, app, load_command
from tests.each import run_each


def names():
    """The names of all commands: `review`, `rules list`."""
    for name in COMMANDS:
        subcommands = getattr(load_command(name), "commands", {})
        yield from (f"{name} {other}" for other, command in subcommands.items() if not command.hidden)
        if not subcommands:
            yield name


def helped(capsys, *arguments):
    app([*arguments], prog_name="plimsoll", standalone_mode=False)
    return capsys.readouterr().out


@run_each(names(), str)
def test_help_ends_with_examples_whose_options_exist(command, capsys):
    lines = helped(capsys, *command.split(), "-h").rstrip().splitlines()
    examples = lines[next(at for at, line in enumerate(lines) if line.strip() == "Examples:") + 1 :]
    assert examples
    for line in examples:
        program, *arguments = shlex.split(line)
        assert program == "plimsoll"
        assert arguments[: len(command.split())] == command.split()
        result = arguments[: arguments.index("--")] if "--" in arguments else arguments  # what follows is for another
        assert helped(capsys, *result, "--help").startswith("Usage: plimsoll ")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_with_its_own_help(name):
    assert load_command(name).name == name or hasattr(load_command(name), "commands")
    assert " ".join(load_command(name).help.split("\n\n")[0].split()) == COMMANDS[name]


def test_an_option_that_does_not_exist_is_told_also_before_help(capsys):
    with pytest.raises(typer.TyperException, match="No such option"):
        helped(capsys, "review", "log.csv", "--no-such-option", "--help")


def test_a_wrong_call_names_the_help_of_its_command(plimsoll):
    for call in (["review", "--odd"], ["rules", "list", "--odd"], ["rules", "--odd"], ["--odd"]):
        where = " ".join(item for item in call if item != "--odd")
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
