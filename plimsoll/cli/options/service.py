"""`plimsoll service`."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options.shared import path_option

app = typer.Typer(
    help="Have the service manager of this system run plimsoll up: as a service of Windows or a unit of systemd; or "
    "write the file of a unit, or of an agent of launchd.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

UpArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="[OPTION]", help="Options of plimsoll up, after --.", show_default=False),
]
OutOption = Annotated[Path, path_option("--out", "The file to write, or - for stdout.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")]


@app.command("install")
def service_install_command(arguments: UpArguments = None, dry_run: DryRunOption = False) -> None:
    """Make plimsoll up a service that starts with the system, and start it."""
    from plimsoll.cli.commands.service import service

    service.install(arguments or [], dry_run=dry_run)


@app.command("systemd")
def service_systemd_command(arguments: UpArguments = None, out: OutOption = Path("-")) -> None:
    """Write a unit of systemd, to be installed by other means."""
    from plimsoll.cli.commands.service import service

    service.systemd(arguments or [], out)


@app.command("launchd")
def service_launchd_command(arguments: UpArguments = None, out: OutOption = Path("-")) -> None:
    """Write an agent of launchd (macOS), to be installed by other means."""
    from plimsoll.cli.commands.service import service

    service.launchd(arguments or [], out)


@app.command("run", hidden=True)
def service_run_command(
    context: typer.Context,
    log: Annotated[Path, path_option("--log", "The log.", show_default=False)],
    arguments: UpArguments = None,
) -> None:
    """Be the service of Windows: its service manager calls this."""
    from plimsoll.cli.commands.service import run as service_run

    service_run.run(context.find_root().command.main, arguments or [], log)
