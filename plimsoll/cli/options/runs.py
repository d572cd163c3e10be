"""`plimsoll runs`."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.options.compare import DetailsOption, FailOn
from plimsoll.cli.options.shared import JsonOption, StoreOption, ZoneOption, path_option

app = typer.Typer(
    help="List, show, judge and delete the runs in a store, and where they changed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

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


@app.command("judge")
def runs_judge_command(
    run: RunArgument,
    like: Annotated[
        list[str] | None,
        typer.Option(
            "--like",
            metavar="LABEL=VALUE",
            help="Which earlier runs are the baseline: those with this label; may be repeated. Default: those with the "
            "labels of the run.",
        ),
    ] = None,
    most: Annotated[
        int, typer.Option("--most", metavar="N", min=1, help="How many of them, the latest first, are compared with.")
    ] = 10,
    zone: ZoneOption = None,
    out: Annotated[Path | None, path_option("--out", "Write the comparison as one HTML file.")] = None,
    json: JsonOption = None,
    junit: Annotated[Path | None, path_option("--junit", "Write JUnit XML.")] = None,
    markdown: Annotated[
        Path | None, path_option("--markdown", "Write a summary in Markdown, as for a pull request; - for stdout.")
    ] = None,
    fail_on: Annotated[
        FailOn | None, typer.Option("--fail-on", help="Exit with status 1 if the run is worse than those before it.")
    ] = None,
    details: DetailsOption = False,
    store: StoreOption = None,
) -> None:
    """Compare a run with the runs before it that are alike: whether it is worse than runs of the baseline are."""
    from plimsoll.cli.commands import judge
    from plimsoll.cli.commands.compare import Outputs
    from plimsoll.cli.inputs import typed_inputs

    outputs = Outputs(out, json, junit, fail_on.value if fail_on else None, markdown, details)
    raise typer.Exit(judge.run(run, like, most, typed_inputs((), zone, None, None, None, store), outputs))


@app.command("trend")
def runs_trend_command(
    like: Annotated[
        list[str] | None,
        typer.Option("--like", metavar="LABEL=VALUE", help="Only runs with this label; may be repeated."),
    ] = None,
    zone: ZoneOption = None,
    json: JsonOption = None,
    junit: Annotated[Path | None, path_option("--junit", "Write JUnit XML.")] = None,
    markdown: Annotated[
        Path | None, path_option("--markdown", "Write a summary in Markdown, as for a pull request; - for stdout.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Show where the levels of signals changed over the runs in a store, as of nights or builds: since which run."""
    from plimsoll.cli.commands import trend
    from plimsoll.cli.commands.compare import Outputs
    from plimsoll.cli.inputs import typed_inputs

    outputs = Outputs(json=json, junit=junit, markdown=markdown)
    trend.run(like, typed_inputs((), zone, None, None, None, store), outputs)


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
