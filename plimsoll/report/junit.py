"""The review as JUnit XML for build servers: a suite for each pack, a case for each rule and host.

A case fails where a warning or critical threshold was crossed or often crossed; it is skipped, with the reason, where
the rule was not judged for any instance. `time` is how long the threshold was crossed, in seconds. The first suite
holds one case, the verdict: an error where the run is not known to be good.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from plimsoll.model.errors import printable_lines
from plimsoll.model.series import host_key
from plimsoll.model.times import SECOND, Zone, utc
from plimsoll.report.wording import lasted, reason, threshold, used_by
from plimsoll.review.doubts import doubts_text
from plimsoll.review.findings import CROSSED, JUDGED, Finding, Outcome
from plimsoll.review.review import Review
from plimsoll.review.sentences import breach_sentence, in_phase, place, worst_text
from plimsoll.review.verdict import Verdict

_SKIPPED = {
    Outcome.TOO_SHORT: "recorded too briefly to judge",
    Outcome.NO_DATA: "no data: recorded, but without samples that could be judged",
    Outcome.NOT_JUDGED: "not judged",
    Outcome.NOT_RECORDED: "not recorded in these logs",
    Outcome.DOES_NOT_APPLY: "does not apply",
    Outcome.OFF: "switched off in plimsoll.toml",
}


@dataclass(frozen=True)
class _Case:
    """One rule on one host: the findings of all instances, worst first."""

    findings: Sequence[Finding]

    @property
    def crossed(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.outcome in CROSSED]

    @property
    def failed(self) -> bool:
        return any(finding.rule.severity != "info" for finding in self.crossed)

    @property
    def skipped(self) -> bool:
        return not any(finding.outcome in JUDGED for finding in self.findings)

    @property
    def seconds(self) -> float:
        """How long it was crossed for the instance that was crossed longest."""
        return max(sum(one.duration for one in finding.counted) for finding in self.findings) / SECOND


def junit(review: Review, zone: Zone | None = None) -> str:
    """The XML. Times in messages are in `zone`, by default the log's own."""
    zone = zone or review.zone
    cases: dict[str, dict[tuple[str, str], list[Finding]]] = {applied.pack.pack: {} for applied in review.applied}
    for finding in review.findings:
        host = finding.subject.host if finding.subject else ""
        cases[finding.pack.pack].setdefault((finding.rule.id, host_key(host)), []).append(finding)
    root = Element("testsuites", name="plimsoll")
    _verdict(root, review)
    everything: list[_Case] = []
    for applied in review.applied:
        order = {rule.id: at for at, rule in enumerate(applied.pack.rules)}
        found = sorted(cases[applied.pack.pack].items(), key=lambda item: (order[item[0][0]], item[0][1]))
        suite = SubElement(root, "testsuite", {"name": applied.pack.pack, **_timestamp(review)})
        merged = [_Case(findings) for _, findings in found]
        _count(suite, merged)
        for case in merged:
            _write(suite, case, applied.why, zone)
        everything += merged
    _count(root, everything)
    root.set("tests", str(len(everything) + 1))
    root.set("errors", str(len(root.findall("testsuite/testcase/error"))))
    show_invisible_characters(root)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _verdict(root: Element, review: Review) -> None:
    unknown = bool(review.doubts) or review.verdict == Verdict.UNKNOWN
    counts = {"tests": "1", "failures": "0", "errors": str(int(unknown)), "skipped": "0", "time": "0.000"}
    suite = SubElement(root, "testsuite", {"name": "verdict", **counts, **_timestamp(review)})
    case = SubElement(suite, "testcase", classname="verdict", name="the run can be judged", time="0.000")
    if unknown:
        message = doubts_text(review.doubts) if review.doubts else review.answer
        SubElement(case, "error", type="not-known", message=message)
    SubElement(case, "system-out").text = f"{review.headline}\n{review.coverage.text}"


def _timestamp(review: Review) -> dict[str, str]:
    return {} if review.start is None else {"timestamp": utc(review.start).strftime("%Y-%m-%dT%H:%M:%S")}


def _count(element: Element, cases: Sequence[_Case]) -> None:
    element.set("tests", str(len(cases)))
    element.set("failures", str(sum(case.failed for case in cases)))
    element.set("errors", "0")
    element.set("skipped", str(sum(case.skipped for case in cases)))
    element.set("time", f"{sum(case.seconds for case in cases):.3f}")


def _write(suite: Element, case: _Case, why: str, zone: Zone) -> None:
    first = case.findings[0]
    host = f" on {first.subject.host}" if first.subject else ""
    element = SubElement(
        suite,
        "testcase",
        classname=first.pack.pack,
        name=f"{first.rule.id}{host}",
        time=f"{case.seconds:.3f}",
    )
    if case.failed:
        more = f" (and {len(case.crossed) - 1} more)" if len(case.crossed) > 1 else ""
        failure = SubElement(
            element, "failure", type=first.rule.severity, message=f"{breach_sentence(case.crossed[0])}{more}"
        )
        failure.text = "\n".join(_details(case, zone))
    elif case.skipped:
        SubElement(element, "skipped", message=_reasons(case, why))
    rest = [*([] if case.failed else _details(case, zone)), *([] if case.skipped else _other_findings(case))]
    if rest:
        SubElement(element, "system-out").text = "\n".join(rest)


def _details(case: _Case, zone: Zone) -> Iterator[str]:
    """Every breach of every instance: when, how long, worst, threshold; then the sources."""
    for finding in case.crossed:
        yield f"{finding.signal.title}, {place(finding)}: threshold {threshold(finding)}{in_phase(finding)}"
        for one in finding.counted:
            when = f"{zone.span(one.start, one.end)} ({lasted(one.duration)})"
            yield f"  {when}, worst {worst_text(finding, one.worst)}"
            if processes := used_by(finding, one.start):
                yield f"    {processes}"
        yield from (f"  {note}" for note in finding.notes)
    if case.crossed:
        rule = case.findings[0].rule
        yield rule.summary
        yield from (f"source: {source.document}, {source.place}" for source in rule.sources)


def _other_findings(case: _Case) -> Iterator[str]:
    """Findings of a judged case that are no failure: overrides of those that held, and why others were not judged."""
    for finding in case.findings:
        if finding.outcome == Outcome.HELD:
            if finding.override:
                yield f"{place(finding)}: {finding.override.note}"
        elif finding.outcome not in CROSSED:
            because = f": {reason(finding)}" if reason(finding) else ""
            yield f"{place(finding)}: {_SKIPPED[finding.outcome]}{because}"


def _reasons(case: _Case, why: str) -> str:
    """The reasons why no instance was judged."""
    reasons: dict[str, None] = {}
    for finding in case.findings:
        because = why if finding.outcome == Outcome.DOES_NOT_APPLY else reason(finding)
        reasons[_SKIPPED[finding.outcome] + (f": {because}" if because else "")] = None
    return "; ".join(reasons)


def show_invisible_characters(root: Element) -> None:
    """Show characters that cannot be seen as what they are: most are not allowed in XML 1.0, not even escaped."""
    for element in root.iter():
        element.text = element.text and printable_lines(element.text)
        for name, value in element.items():
            element.set(name, printable_lines(value))
