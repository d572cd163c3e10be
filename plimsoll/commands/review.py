"""`plimsoll review`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hosts import settings
from hosts.facts import Facts
from hosts.overrides import Overrides
from hosts.recorded_facts import recorded_facts
from ingest.several import refuse_unnamed
from model.errors import Unusable
from model.log import Log
from model.run import StoredRun
from model.time_arguments import steady_phases
from model.times import Zone
from plimsoll.console import STDOUT, plain, say, spare, stdout, tell, write_json
from plimsoll.files import write_text
from plimsoll.sources import Named, read, refuse_bare
from report import terminal
from report.json_document import document
from report.junit import junit
from review.doubts import doubts_text
from review.findings import CROSSED, Question
from review.review import Review, review
from review.verdict import Verdict
from rules.load import load


@dataclass(frozen=True)
class Asked:
    """What is to be judged, as typed: `packs` are added to those that ship, `only` stand in for them."""

    packs: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    steady: str | None = None
    config: Path | None = None


@dataclass(frozen=True)
class Outputs:
    """What is to be written, and from which severity on the exit status is 1."""

    report: Path | None = None
    json: Path | None = None
    junit: Path | None = None
    fail_on: str | None = None


def run(named: Named, asked: Asked, outputs: Outputs) -> int:
    """Review a run; the exit status."""
    for option, path in (("--out", outputs.report), ("--junit", outputs.junit)):
        if path == STDOUT:
            raise Unusable(f"{option} - is not supported: name a file, it is written as a whole or not at all")
    result, zone = review_named(named, asked)
    others = [*named.names, *([asked.config] if asked.config else [])]
    spare(result.logs, outputs.report, outputs.json, outputs.junit, others=others)
    if outputs.report is not None:
        from report.html.render import render  # noqa: PLC0415  only a report needs templates

        write_text(outputs.report, render(result, zone))
    if outputs.json is not None:
        write_json(outputs.json, document(result).model_dump_json(by_alias=True, indent=2))
    if outputs.junit is not None:
        write_text(outputs.junit, junit(result, zone))
    if outputs.json != STDOUT:
        terminal.show(result, stdout(), zone)
        if outputs.report is not None:
            say(f"\nReport: {plain(str(outputs.report))}")
    tell(result.remarks)
    return _status(result, outputs.fail_on)


def review_named(named: Named, asked: Asked) -> tuple[Review, Zone | None]:
    """The review of the logs that were named, and the zone it is to be shown in."""
    found = read(named)
    logs, stored = found.logs, found.run
    refuse_bare(found)
    refuse_unnamed(logs)
    catalogue = load(asked.packs, asked.only)
    # Those of the shipped packs may be set otherwise as well: other reviews are by them.
    rules = {**load().rules, **catalogue.rules} if asked.only else catalogue.rules
    zone = named.shown_in or next((log.zone for log in logs if log.zone.known), logs[0].zone)
    path, given = _settings(named, asked.config, logs, stored)
    described = given.described_run()
    run_ = stored.run if stored else described
    phases = described.phases or run_.phases
    start, end = _span(logs)
    if asked.steady is not None:
        phases = steady_phases(asked.steady, zone, start, end)
    else:
        settings.check_phases(path, phases, rules, zone, start, end)
    # What was collected live was read for the time asked for.
    first, last = named.when.resolve(zone, start, end) if named.hosts is None else (None, None)
    if (first or start) > (last or end) or (first or start) > end or (last or end) < start:
        raise Unusable(
            f"nothing was recorded from {zone.clock(first or start)} to {zone.clock(last or end)}; "
            f"the logs reach from {zone.clock(start)} to {zone.clock(end)}"
        )
    question = Question(
        catalogue.packs,
        catalogue.signals,
        phases,
        first,
        last,
        by_hand=catalogue.by_hand,
        overrides=given.overrides(path, rules, catalogue.signals) if path and given.sets_rules else Overrides(),
        drives=given.drives(),
        expected_hosts=given.named_hosts if found.whole else (),
    )
    return review(logs, run_, question, Facts(given.facts(), recorded_facts(logs)), found.remarks), named.shown_in


def _settings(
    named: Named, config: Path | None, logs: Sequence[Log], stored: StoredRun | None
) -> tuple[Path | None, settings.Settings]:
    """What is known beside the logs, and where it stands: the file named, else what lay beside them."""
    if config is None and stored is not None:
        where = Path(named.places[0])
        return where, settings.parse(stored.settings or "", where)
    path = settings.find([log.file or log.path for log in logs], config) if named.hosts is None else config
    return path, settings.load(path) if path else settings.Settings()


def _span(logs: Sequence[Log]) -> tuple[int, int]:
    filled = [log for log in logs if len(log.times)]
    if not filled:
        raise Unusable(f"{', '.join(str(log.path) for log in logs)}: no samples; there is nothing to judge")
    return min(int(log.times[0]) for log in filled), max(int(log.times[-1]) for log in filled)


def _status(result: Review, fail_on: str | None) -> int:
    if fail_on is None:
        return 0
    failing = ("critical",) if fail_on == "critical" else ("critical", "warning")
    if any(finding.rule.severity in failing for finding in result.of(*CROSSED)):
        return 1
    if result.verdict == Verdict.UNKNOWN or result.doubts:
        why = doubts_text(result.doubts) if result.doubts else result.answer
        raise Unusable(f"--fail-on cannot say that the run was good: {why}")
    return 0
