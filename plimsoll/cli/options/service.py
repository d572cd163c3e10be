"""`plimsoll service`."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options.shared import path_option

app = typer.Typer(
    help="Write the file with which a service manager runs plimsoll up.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

UpArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="[OPTION]", help="Options of plimsoll up, after --.", show_default=False),
]
OutOption = Annotated[Path, path_option("--out", "The file to write, or - for stdout.")]


@app.command("systemd")
def service_systemd_command(arguments: UpArguments = None, out: OutOption = Path("-")) -> None:
    """Write a unit of systemd."""
    from plimsoll.cli.commands import service

    service.systemd(arguments or [], out)


@app.command("windows")
def service_windows_command(arguments: UpArguments = None, out: OutOption = Path("-")) -> None:
    """Write a task of the Task Scheduler of Windows."""
    from plimsoll.cli.commands import service

    service.windows(arguments or [], out)


@app.command("launchd")
def service_launchd_command(arguments: UpArguments = None, out: OutOption = Path("-")) -> None:
    """Write an agent of launchd (macOS)."""
    from plimsoll.cli.commands import service

    service.launchd(arguments or [], out)
