"""`plimsoll stack`."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options.shared import JsonOption, path_option

app = typer.Typer(
    help="Run Telegraf and InfluxDB on this machine without Docker.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

StackFolderOption = Annotated[
    Path | None,
    path_option(
        "--folder",
        "The folder of data, settings and logs. Default: plimsoll/stack in your state folder.",
        show_default=False,
    ),
]


@app.command("start")
def stack_start_command(
    folder: StackFolderOption = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=1,
            max=65535,
            help="InfluxDB's port. Default: the one used last, at first 8086.",
            show_default=False,
        ),
    ] = None,
    retention: Annotated[
        str | None,
        typer.Option(
            "--retention",
            help="How long InfluxDB keeps data: 90d, forever. Default: the one used last, at first forever.",
        ),
    ] = None,
) -> None:
    """Start Telegraf and InfluxDB, reachable from this machine only.

    The first call builds them, which takes some ten minutes.
    """
    from plimsoll.cli.commands import stack

    stack.start(folder, port, retention)


@app.command("stop")
def stack_stop_command(folder: StackFolderOption = None) -> None:
    """Stop Telegraf and InfluxDB, and wait until they have stopped."""
    from plimsoll.cli.commands import stack

    stack.stop(folder)


@app.command("status")
def stack_status_command(folder: StackFolderOption = None, json: JsonOption = None) -> None:
    """Show what is running, where, since when, and its disk space. The exit status is 3 unless both run."""
    from plimsoll.cli.commands import stack

    raise typer.Exit(stack.status(folder, json))


@app.command("env")
def stack_env_command(
    out: Annotated[Path, path_option("--out", "The file to write.")] = Path(".env"),
) -> None:
    """Write the settings and new secrets for docker compose; an existing file is never overwritten."""
    from plimsoll.cli.commands import stack

    stack.env(out)
