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
from model.remark import counted
from model.run import Recording, Run, StoredRun
from model.times import Zone
from plimsoll.console import plain, say, tell
from plimsoll.sources import Named, Read, read, refuse_bare
from plimsoll.stores import opened
from rules.load import load as load_rules


@dataclass(frozen=True)
class Wanted:
    """What is to be said of the run, as typed."""

    name: str
    labels: tuple[str, ...] = ()
    config: Path | None = None
    merge: bool = False


def run(named: Named, wanted: Wanted) -> None:
    """Load the logs of a run into a store. Unusable if some of it was refused."""
    if named.run is not None or named.hosts is not None:
        raise Unusable(f"{named.places[0]}: is in a store already; name logs")
    labels = dict(map(_label, wanted.labels))
    found = read(named)
    logs, remarks = found.logs, found.remarks
    refuse_bare(found)
    refuse_unnamed(logs)
    stored = _described(wanted, labels, found, named.shown_in)
    with opened(named.store) as store, _bar() as bar:
        task = bar.add_task(wanted.name, total=stored.values)
        loaded = load(store, stored, logs, merge=wanted.merge, progress=lambda done: bar.update(task, completed=done))
        where = store.name
    tell([*(remark for log in logs for remark in log.remarks), *remarks, *loaded.remarks])
    say(_told(stored, loaded, where))
    if loaded.refused:
        raise Unusable(f'{counted(loaded.refused, "point")} of run "{wanted.name}" refused by {where}: it is not whole')


def _told(run: StoredRun, loaded: Loaded, where: str) -> str:
    whole = f"{counted(run.values, 'value')} of {', '.join(run.hosts)} in {counted(len(run.recordings), 'log')}"
    if not loaded.values:
        what = f"is in {where} already: {whole}"
    elif loaded.before:
        what = f"is in {where} now: {whole}, {loaded.before:,} of them from an earlier call"
    else:
        what = f"is in {where}: {whole}"
    return f'Run "{plain(run.name)}" {plain(what)}\n[dim]plimsoll review {plain(shlex.quote(f"run:{run.name}"))}[/]'


def _label(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not text.isprintable():
        raise Unusable(f'--label "{text}": write it like logon_rate=36')
    return name.strip(), value.strip()


def _described(wanted: Wanted, labels: dict[str, str], found: Read, zone: Zone | None) -> StoredRun:
    logs = found.logs
    # No tag of InfluxDB's ends in a backslash.
    plain = wanted.name.strip() == wanted.name and wanted.name.isprintable() and not wanted.name.endswith("\\")
    if not wanted.name or not plain:
        raise Unusable(f'--run "{wanted.name}": give a name without spaces at its ends, line ends, or a last \\')
    if not any(len(log.times) for log in logs):
        raise Unusable(f"{', '.join(str(log.path) for log in logs)}: no samples; there is nothing to load")
    path = settings.find([log.file or log.path for log in logs], wanted.config)
    text = settings.text_of(path) if path else None
    given = settings.parse(text, path).described_run() if text and path else Run()
    if given.phases:
        filled = [log for log in logs if len(log.times)]
        start, end = min(int(log.times[0]) for log in filled), max(int(log.times[-1]) for log in filled)
        settings.check_phases(path, given.phases, load_rules().rules, zone or filled[0].zone, start, end)
    run = replace(given, name=wanted.name, labels={**given.labels, **labels})
    try:
        recordings = tuple(Recording.of(log, log.digest or "") for log in logs)
    except OSError as error:
        raise Unusable(f"{error.filename}: cannot be read again: {error.strerror}") from None
    return StoredRun(run, recordings, tuple(found.remarks), text, found.whole)


def _bar() -> Progress:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn("values"))
    return Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal, transient=True)
