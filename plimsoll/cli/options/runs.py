"""`plimsoll runs`."""

from typing import Annotated

import typer

from plimsoll.cli.options.shared import JsonOption, StoreOption

app = typer.Typer(help="List, show and delete the runs in a store.", no_args_is_help=True, rich_markup_mode=None)

RunArgument = Annotated[str, typer.Argument(help="The name of a run.", metavar="RUN", show_default=False)]


@app.command("list")
def runs_list_command(store: StoreOption = None, json: JsonOption = None) -> None:
    """List the runs in a store, the latest first."""
    from plimsoll.cli.commands import runs

    runs.list_runs(store, json)


@app.command("show")
def runs_show_command(run: RunArgument, store: StoreOption = None, json: JsonOption = None) -> None:
    """Show what is known about a run: span, hosts, labels, phases, files."""
    from plimsoll.cli.commands import runs

    runs.show(run, store, json)


@app.command("delete")
def runs_delete_command(
    run: RunArgument,
    store: StoreOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also if another command loads or deletes the run: that one then stops.")
    ] = False,
) -> None:
    """Delete a run and its values, except those that another run holds, too."""
    from plimsoll.cli.commands import runs

    runs.delete(run, store, force=force)
