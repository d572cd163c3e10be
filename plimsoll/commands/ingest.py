"""`plimsoll ingest`."""

import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from hosts import settings
from ingest.load import Loaded, load
from ingest.several import refuse_unnamed
from model.errors import Unusable
from model.remark import counted, short
from model.run import Recording, Run, StoredRun
from model.times import Zone
from plimsoll.console import print_line, print_notice, print_remarks
from plimsoll.inputs import Found, Inputs, read, refuse_empty
from plimsoll.open_store import open_store
from rules.load import load as load_rules

_LONGEST_NAME = 200


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
    labels = dict(map(_label, options.labels))
    found = read(inputs)
    logs, remarks = found.logs, found.remarks
    refuse_empty(found)
    refuse_unnamed(logs)
    stored = _run_to_store(options, labels, found, inputs.requested_zone)
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


def _label(text: str) -> tuple[str, str]:
    """The name and value of a label written `name=value`. Unusable if it is not."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not text.isprintable():
        raise Unusable(f'--label "{text}": write it like logon_rate=36')
    return name.strip(), value.strip()


def _run_to_store(options: Options, labels: dict[str, str], found: Found, zone: Zone | None) -> StoredRun:
    """The run with its recordings and plimsoll.toml. Unusable if its name, its phases or the logs cannot be used."""
    logs = found.logs
    # InfluxDB takes no tag that ends in a backslash.
    name = options.name
    valid = name.strip() == name and name.isprintable() and not name.endswith("\\") and len(name) <= _LONGEST_NAME
    if not name or not valid:
        raise Unusable(
            f'--run "{short(name)}": give a name of 1 to {_LONGEST_NAME} characters that can be seen, without spaces '
            "at its ends or a last \\"
        )
    if not any(len(log.times) for log in logs):
        raise Unusable(f"{', '.join(str(log.path) for log in logs)}: no samples; there is nothing to load")
    path = settings.find([log.file or log.path for log in logs], options.config)
    text = settings.text_of(path) if path else None
    given = settings.parse(text, path).described_run() if text and path else Run()
    if given.phases:
        filled = [log for log in logs if len(log.times)]
        start, end = min(int(log.times[0]) for log in filled), max(int(log.times[-1]) for log in filled)
        settings.check_phases(path, given.phases, load_rules().rules, zone or filled[0].zone, start, end)
    run = replace(given, name=options.name, labels={**given.labels, **labels})
    try:
        recordings = tuple(Recording.of(log, log.digest or "") for log in logs)
    except OSError as error:
        raise Unusable(f"{error.filename}: cannot be read again: {error.strerror}") from None
    return StoredRun(run, recordings, tuple(found.remarks), text, found.whole)


def _bar() -> Progress:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn("values"))
    return Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal, transient=True)
