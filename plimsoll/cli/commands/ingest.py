"""`plimsoll ingest`."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from plimsoll.api.inputs import Inputs, read
from plimsoll.cli.console import print_line, print_notice, print_remarks
from plimsoll.cli.open_store import open_store
from plimsoll.cli.waiting import working_on
from plimsoll.hosts.run_to_store import run_to_store
from plimsoll.ingest.recordings import refuse_unnamed
from plimsoll.ingest.runs.load import Loaded, load
from plimsoll.ingest.runs.run_names import refuse_name, run_label
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import counted
from plimsoll.model.run import StoredRun


@dataclass(frozen=True)
class Options:
    """The name and description of the run, as typed."""

    name: str
    labels: tuple[str, ...] = ()
    config: Path | None = None
    merge: bool = False


def run(inputs: Inputs, options: Options) -> None:
    """Load the logs of a run into a store. Unusable if the store refused some of the points."""
    if inputs.run is not None or inputs.hosts is not None:
        raise Unusable(f"{inputs.sources[0]}: is in a store already; name logs")
    labels = dict(run_label(text, "--label") for text in options.labels)
    with working_on("Reading", inputs.sources):
        found = read(inputs)
    logs, remarks = found.logs, found.remarks
    found.refuse_empty()
    refuse_unnamed(logs)
    refuse_name(options.name, "--run")
    stored = run_to_store(found, options.name, labels, options.config, inputs.requested_zone)
    with open_store(inputs.store, make=True) as store, _bar() as bar:
        task = bar.add_task(options.name, total=stored.values)
        loaded = load(
            store,
            stored,
            logs,
            merge=options.merge,
            progress=lambda done: bar.update(task, completed=done),
            notify=print_notice,
        )
        where = store.name
    print_remarks([*(remark for log in logs for remark in log.remarks), *remarks, *loaded.remarks])
    print_line(f'Run "{stored.run.name}" {_summary(stored, loaded, where)}')
    print_line((f"plimsoll review {shlex.quote(f'run:{stored.run.name}')}", "dim"))
    if loaded.refused:
        raise Unusable(
            f'{counted(loaded.refused, "point")} of run "{options.name}" refused by {where}: it is not whole'
        )


def _summary(run: StoredRun, loaded: Loaded, where: str) -> str:
    """What was loaded, and where it is."""
    whole = f"{counted(run.values, 'value')} of {', '.join(run.hosts)} in {counted(len(run.recordings), 'log')}"
    if loaded.missing:
        return f"is in {where} now: {whole}, {loaded.missing:,} of which it had lost"
    if not loaded.values:
        return f"is in {where} already: {whole}"
    if loaded.before:
        return f"is in {where} now: {whole}, {loaded.before:,} of them from an earlier call"
    return f"is in {where}: {whole}"


def _bar() -> Progress:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn("values"))
    return Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal, transient=True)
