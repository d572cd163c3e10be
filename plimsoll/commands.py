"""What the commands do: read, ask the rooms that know, print and write."""

import json as json_module
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from demo.runs import write_runs
from ingest.convert import WRITERS, Part
from ingest.read import Reading, read_logs
from ingest.together import remarks_on
from model.errors import Unusable
from model.log import Log
from model.remark import Kind, Remark, counted
from model.times import Zone
from plimsoll import show
from plimsoll.files import expand, write_text
from review import html, settings, terminal
from review.facts import Facts, seen_in
from review.findings import Outcome, Question
from review.moments import parse_moment, steady
from review.review import Review, document, review
from review.verdict import Verdict
from rules.load import load_packs, load_signals

_STDOUT = Path("-")


@dataclass(frozen=True)
class Named:
    """Which logs to read, and how, as typed."""

    paths: tuple[Path, ...]
    zone: str | None = None
    format: str | None = None
    encoding: str | None = None

    @property
    def shown_in(self) -> Zone | None:
        """The zone asked for."""
        return Zone.parse(self.zone) if self.zone else None


@dataclass(frozen=True)
class Asked:
    """What is to be judged, as typed."""

    packs: tuple[str, ...] = ()
    start: str | None = None
    end: str | None = None
    steady: str | None = None
    config: Path | None = None


def demo_command(out: Path) -> None:
    """Write the simulated runs, review each, and leave a report beside its logs."""
    console = Console()
    for folder in write_runs(out):
        report = folder / "report.html"
        result, _ = _review(Named((folder,)), Asked())
        terminal.show(result, console)
        write_text(report, html.render(result))
        console.print(f"\nReport: {report}\n", soft_wrap=True, highlight=False)


def show_command(named: Named, json: Path | None) -> None:
    """Tell what is in each log."""
    logs, remarks = _read(named)
    if json is not None:
        _write_json(json, json_module.dumps([show.as_json(log) for log in logs], ensure_ascii=False, indent=2))
    if json != _STDOUT:
        for log in logs:
            show.show(log, Console(), named.shown_in or log.zone)
    _tell([*(remark for log in logs for remark in log.remarks), *remarks])


@dataclass(frozen=True)
class Wanted:
    """Which part of a log is to be converted, as typed."""

    counters: tuple[str, ...] = ()
    start: str | None = None
    end: str | None = None
    every: int = 1


def convert_command(named: Named, target: str, out: Path, wanted: Wanted) -> None:
    """Write a log in another format."""
    logs, remarks = _read(named)
    if len(logs) > 1:
        raise Unusable(f"{named.paths[0]}: holds {len(logs)} logs; convert one at a time")
    (log,) = logs
    zone = named.shown_in or log.zone
    first = int(log.times[0]) if len(log.times) else 0
    start = parse_moment(wanted.start, zone, first) if wanted.start else None
    end = parse_moment(wanted.end, zone, start or first) if wanted.end else None
    part = Part(wanted.counters, start, end, wanted.every).of(log)
    remarks = [*log.remarks, *remarks, *WRITERS[target](part, out)]
    rows, columns = counted(len(part.times), "row"), counted(len(part.series), "counter")
    Console().print(f"{out}: {rows} of {columns}", soft_wrap=True, highlight=False, markup=False)
    _tell(remarks)


def review_command(named: Named, asked: Asked, *, out: Path | None, json: Path | None, fail_on: str | None) -> int:
    """Review a run; the exit status."""
    result, zone = _review(named, asked)
    if out is not None:
        write_text(out, html.render(result, zone))
    if json is not None:
        _write_json(json, document(result).model_dump_json(by_alias=True, indent=2))
    if json != _STDOUT:
        terminal.show(result, Console(), zone)
        if out is not None:
            Console().print(f"\nReport: {out}", soft_wrap=True, highlight=False)
    _tell(result.remarks)
    return _status(result, fail_on)


def _review(named: Named, asked: Asked) -> tuple[Review, Zone | None]:
    logs, remarks = _read(named)
    packs = load_packs(asked.packs)
    zone = named.shown_in or next((log.zone for log in logs if log.zone.known), logs[0].zone)
    path = settings.find([log.path for log in logs], asked.config)
    given = settings.load(path) if path else settings.Settings()
    run = given.described_run()
    phases = run.phases
    start, end = _span(logs)
    if asked.steady is not None:
        phases = steady(asked.steady, zone, start, end)
    first = parse_moment(asked.start, zone, start) if asked.start else None
    last = parse_moment(asked.end, zone, first or start) if asked.end else None
    if (first or start) > (last or end) or (first or start) > end or (last or end) < start:
        raise Unusable(
            f"nothing was recorded from {zone.clock(first or start)} to {zone.clock(last or end)}; "
            f"the logs reach from {zone.clock(start)} to {zone.clock(end)}"
        )
    question = Question(packs, load_signals(), phases, first, last, by_hand=bool(asked.packs))
    return review(logs, run, question, Facts(given.facts(), seen_in(logs)), remarks), named.shown_in


def _read(named: Named) -> tuple[list[Log], list[Remark]]:
    logs: list[Log] = []
    remarks: list[Remark] = []
    how = Reading(named.shown_in, named.format, named.encoding)
    for path, found in expand(named.paths):
        try:
            found_logs, found_remarks = read_logs(path, how)
            logs += found_logs
            remarks += found_remarks
        except Unusable as error:
            if not found:
                raise
            remarks.append(Remark(Kind.SKIPPED, str(error)))
    remarks += remarks_on(logs)
    if not logs:
        _tell(remarks)
        raise Unusable(f"{', '.join(str(path) for path in named.paths)}: no log in it could be read")
    return logs, remarks


def _span(logs: Sequence[Log]) -> tuple[int, int]:
    filled = [log for log in logs if len(log.times)]
    if not filled:
        raise Unusable(f"{', '.join(str(log.path) for log in logs)}: no samples; there is nothing to judge")
    return min(int(log.times[0]) for log in filled), max(int(log.times[-1]) for log in filled)


def _status(result: Review, fail_on: str | None) -> int:
    if fail_on is None:
        return 0
    if result.verdict == Verdict.UNKNOWN:
        raise Unusable(f"--fail-on cannot say that the run was good: {result.answer}")
    failing = ("critical",) if fail_on == "critical" else ("critical", "warning")
    return 1 if any(finding.rule.severity in failing for finding in result.of(Outcome.CROSSED)) else 0


def _write_json(path: Path, text: str) -> None:
    if path == _STDOUT:
        sys.stdout.write(text + "\n")
    else:
        write_text(path, text + "\n")


def _tell(remarks: Sequence[Remark]) -> None:
    """Remarks go to stderr, the first twenty of them; the report and the JSON hold all."""
    console = Console(stderr=True)
    for remark in remarks[:20]:
        console.print(f"remark: {remark}", soft_wrap=True, highlight=False, markup=False, style="dim")
    if len(remarks) > 20:
        console.print(f"remark: {len(remarks) - 20} more; see the report or --json", soft_wrap=True, highlight=False)
