"""`plimsoll service`: files with which service managers run `plimsoll up`."""

import os
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath

from plimsoll.cli.console import print_notice, print_plain
from plimsoll.cli.outputs import STDOUT, write_text
from plimsoll.model.atomic import atomic_write
from plimsoll.up.service import files

_HOMES = (Path("/home"), Path("/root"))


def systemd(arguments: Sequence[str], out: Path) -> None:
    """Write a unit of systemd."""
    command = _command(arguments)
    _write(files.systemd(command), out)
    program = Path(command.program[0])
    if any(home in program.parents for home in _HOMES):
        print_notice(
            f"{program}: is in a home folder, where the user of the service may not be able to run it; "
            "install Plimsoll where everyone can read it, such as /opt/plimsoll, and write the file with that one"
        )


def windows(arguments: Sequence[str], out: Path) -> None:
    """Write a task of the Task Scheduler. Its file is UTF-16, which schtasks expects."""
    folder = PureWindowsPath(os.environ.get("PROGRAMDATA", "C:\\ProgramData")) / "Plimsoll"
    text = files.windows(_command(arguments), folder)
    if out == STDOUT:
        print_plain(text)
        return
    with atomic_write(out) as partial:
        partial.write_text(text, encoding="utf-16", newline="\r\n")


def launchd(arguments: Sequence[str], out: Path) -> None:
    """Write an agent of launchd."""
    library = Path.home() / "Library"
    data, log = library / "Application Support" / "plimsoll", library / "Logs" / "plimsoll.log"
    _write(files.launchd(_command(arguments), data, log), out)


def _command(arguments: Sequence[str]) -> files.Command:
    """The call of this installation's `plimsoll up`."""
    script = Path(sysconfig.get_path("scripts")) / ("plimsoll.exe" if sys.platform == "win32" else "plimsoll")
    return files.Command(
        [str(script)] if script.is_file() else [sys.executable, "-m", "plimsoll"], "--store", arguments
    )


def _write(text: str, out: Path) -> None:
    if out == STDOUT:
        print_plain(text)
    else:
        write_text(out, text)
