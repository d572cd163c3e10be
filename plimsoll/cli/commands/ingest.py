"""`plimsoll ingest`."""

import shlex
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from plimsoll.api.inputs import read
from plimsoll.api.open_store import open_store
from plimsoll.cli import args
from plimsoll.cli.console import print_line, print_notice, print_remarks
from plimsoll.cli.long_work import show_progress
from plimsoll.hosts.run_to_store import run_to_store
from plimsoll.ingest.recordings import refuse_unnamed
from plimsoll.ingest.runs.load import Loaded, load, refuse_name, run_label
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import format_count
from plimsoll.model.run import StoredRun

app = args.make_command_app()


@app.command("ingest", epilog=args.format_examples("plimsoll ingest logs/ --run nightly-42 --label build=1042"))
def ingest(
    logs: list[str] = typer.Argument(
        ..., help="Logs or folders of logs; - for standard input; prometheus://HOST:9090.", metavar="LOG..."
    ),
    run: str = typer.Option(..., "--run", help="The name of the run."),
    label: list[str] | None = typer.Option(None, "--label", metavar="K=V", help="A label of the run; repeat for more."),
    store: args.StoreOption = None,
    merge: bool = typer.Option(False, "--merge", help="Load even if the store has data of the same hosts and times."),
    config: Path | None = args.path_option(
        None, "--config", "Labels, phases, host facts. Default: plimsoll.toml beside the logs."
    ),
    from_: args.FromOption = None,
    to: args.ToOption = None,
    last: args.LastOption = None,
    host: args.HostOption = None,
    match: args.MatchOption = None,
    zone: args.ZoneOption = None,
    format_: args.FormatOption = None,
    encoding: args.EncodingOption = None,
    names: args.NamesOption = None,
) -> None:
    """Load the logs of a run, or what a server recorded, into a store. Repeat a call to continue it."""
    inputs = args.parse_inputs(logs, zone, format_, encoding, names, store, (from_, to, last), (host, match))
    if inputs.run is not None or inputs.hosts is not None:
        raise Unusable(f"{inputs.sources[0]}: is in a store already; name logs")
    if inputs.when and not inputs.servers:
        raise Unusable(f"--from, --to and --last are for servers; {inputs.sources[0]} is loaded as a whole")
    labels = dict(run_label(text, "--label") for text in label or ())
    with show_progress("Reading", inputs) as counted:
        contents = read(counted)
    contents.refuse_empty()
    refuse_unnamed(contents.logs)
    refuse_name(run, "--run")
    stored = run_to_store(contents, run, labels, config, inputs.requested_zone)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn("values"))
    console = Console(stderr=True)
    progress = Progress(
        *columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal, transient=True
    )
    with open_store(store, make=True, notify=print_notice) as opened, progress as bar:
        task = bar.add_task(run, total=stored.values)
        loaded = load(
            opened,
            stored,
            contents.logs,
            merge=merge,
            progress=lambda done: bar.update(task, completed=done),
            notify=print_notice,
        )
        where = opened.name
    print_remarks([*(remark for log in contents.logs for remark in log.remarks), *contents.remarks, *loaded.remarks])
    print_line(f'Run "{stored.run.name}" {_summarize_load(stored, loaded, where)}')
    print_line((f"plimsoll review {shlex.quote(f'run:{stored.run.name}')}", "dim"))
    if loaded.refused:
        raise Unusable(f'{format_count(loaded.refused, "point")} of run "{run}" refused by {where}: it is not whole')


def _summarize_load(run: StoredRun, loaded: Loaded, where: str) -> str:
    """Return the end of a sentence on a run that was loaded: how many values, and into which store."""
    whole = (
        f"{format_count(run.values, 'value')} of {', '.join(run.hosts)} in {format_count(len(run.recordings), 'log')}"
    )
    if loaded.missing:
        return f"is in {where} now: {whole}, {loaded.missing:,} of which it had lost"
    if not loaded.values:
        return f"is in {where} already: {whole}"
    if loaded.before:
        return f"is in {where} now: {whole}, {loaded.before:,} of them from an earlier call"
    return f"is in {where}: {whole}"
