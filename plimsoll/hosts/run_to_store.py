"""A run, built from logs and their plimsoll.toml, to be loaded into a store."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from plimsoll.hosts import settings
from plimsoll.ingest.reading import LogSet
from plimsoll.model.errors import Unusable
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.times import Zone
from plimsoll.rules.load import load


def run_to_store(
    read_logs: LogSet, name: str, labels: Mapping[str, str], config: Path | None = None, zone: Zone | None = None
) -> StoredRun:
    """Return the run with its recordings and its plimsoll.toml, which is `config` or else the file beside the logs.

    `zone` is the time zone for messages about phases, by default the logs' own. Raise Unusable if phases or logs are
    invalid.
    """
    logs = read_logs.logs
    if not any(len(log.times) for log in logs):
        raise Unusable(f"{', '.join(str(log.path) for log in logs)}: no samples; there is nothing to load")
    path = settings.find(logs, config)
    text = settings.read_settings_text(path) if path else None
    described = settings.parse(text, path).described_run() if text and path else Run()
    if described.phases:
        filled = [log for log in logs if len(log.times)]
        start, end = min(int(log.times[0]) for log in filled), max(int(log.times[-1]) for log in filled)
        settings.check_phases(path, described.phases, load().rules, zone or filled[0].zone, start, end)
    run = replace(described, name=name, labels={**described.labels, **labels})
    try:
        recordings = tuple(Recording.of(log, log.digest or "") for log in logs)
    except OSError as error:
        raise Unusable(f"{error.filename}: cannot be read again: {error.strerror}") from None
    return StoredRun(run, recordings, tuple(read_logs.remarks), text, read_logs.whole)
