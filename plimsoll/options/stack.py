"""`plimsoll stack`."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.options.shared import JsonOption, path_option

app = typer.Typer(
    help="The real Telegraf and InfluxDB on this machine, where there is no Docker.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

StackFolderOption = Annotated[
    Path | None,
    path_option(
        "--folder",
        "Where data, settings and logs are. Default: plimsoll/stack in the user's state folder.",
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
            help="InfluxDB's port. Default: the last one, at first 8086.",
            show_default=False,
        ),
    ] = None,
    retention: Annotated[
        str | None,
        typer.Option(
            "--retention", help="How long InfluxDB keeps data: 90d, forever. Default: as before, at first forever."
        ),
    ] = None,
) -> None:
    """Start both, on 127.0.0.1 alone. They are built first where they are not yet, which takes some minutes."""
    from plimsoll.commands import stack

    stack.start(folder, port, retention)


@app.command("stop")
def stack_stop_command(folder: StackFolderOption = None) -> None:
    """Stop both, and wait until they have stopped."""
    from plimsoll.commands import stack

    stack.stop(folder)


@app.command("status")
def stack_status_command(folder: StackFolderOption = None, json: JsonOption = None) -> None:
    """Tell what runs, where, since when, and the room it takes; the exit status is 3 unless both run."""
    from plimsoll.commands import stack

    raise typer.Exit(stack.status(folder, json))


@app.command("env")
def stack_env_command(
    out: Annotated[Path, path_option("--out", "The file to write.")] = Path(".env"),
) -> None:
    """Write the settings and new secrets that docker compose needs; a file that is there is left alone."""
    from plimsoll.commands import stack

    stack.env(out)
