"""Reads a run and reviews it, as `plimsoll review` and `plimsoll.review` do."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from plimsoll.api.inputs import Inputs, read
from plimsoll.hosts import settings
from plimsoll.ingest.reading import Found
from plimsoll.review.review import Review
from plimsoll.review.review_logs import review_logs
from plimsoll.rules.load import load


@dataclass(frozen=True)
class Options:
    """How to judge, as typed: `packs` are added to the shipped ones, `only` replace them."""

    packs: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    steady: str | None = None
    config: Path | None = None
    whole_run: bool = False


def review_inputs(inputs: Inputs, options: Options) -> Review:
    """Read the inputs, their plimsoll.toml and the packs, and judge them."""
    return reviewed(inputs, options)[0]


def reviewed(inputs: Inputs, options: Options) -> tuple[Review, Path | None, settings.Settings]:
    """The same, and the settings with where they are from."""
    found = read(replace(inputs, measurements=lambda: _measurements(options)))
    catalogue = load(options.packs, options.only)
    path, given = _settings(inputs, options.config, found)
    when = inputs.when if inputs.hosts is None else None  # of live hosts only that part was read
    result = review_logs(
        found,
        catalogue,
        given,
        path,
        zone=inputs.requested_zone,
        steady=options.steady,
        whole_run=options.whole_run,
        in_operation=inputs.hosts is not None,
        when=when,
    )
    return result, path, given


def _measurements(options: Options) -> Collection[str]:
    from plimsoll.api.open_store import measurements_of  # noqa: PLC0415 - only live hosts of a VictoriaMetrics need it

    return measurements_of(load(options.packs, options.only).signals.values())


def _settings(inputs: Inputs, config: Path | None, found: Found) -> tuple[Path | None, settings.Settings]:
    """The settings and where they are from: --config, else those stored with the run, else a file beside the logs."""
    if config is None and found.run is not None:
        source = Path(inputs.sources[0])
        return source, settings.parse(found.run.settings or "", source)
    path = config if inputs.hosts is not None else settings.find([log.file or log.path for log in found.logs], config)
    return path, settings.load(path) if path else settings.Settings()
