"""The command line as a whole."""

import subprocess
import sys

import pytest
from typer.main import get_command

from plimsoll import cli

HEAVY = {"influxdb_client", "jinja2", "numpy", "polars", "pydantic", "rich", "yaml"}


def test_help_does_not_wait_for_what_it_does_not_use():
    code = "import sys; import plimsoll.cli; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "typer" in loaded
    assert not loaded & HEAVY


def commands(command, *names):
    yield " ".join(names), command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, *names, name)


@pytest.mark.parametrize(
    "command", [pytest.param(one, id=name) for name, one in commands(get_command(cli.app), "plimsoll")]
)
def test_every_command_and_all_it_takes_is_explained(command):
    assert command.help
    assert [one.name for one in command.params if not one.help] == []
