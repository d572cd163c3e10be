"""Sentences and figures of one output that contradict each other, or cannot be true of the run."""

import re
from collections import Counter

from plimsoll.comparison.compared_signal import ComparisonOutcome
from plimsoll.comparison.summary import list_account
from plimsoll.insights.bottleneck.insight import INSIGHT as BOTTLENECK
from plimsoll.insights.bottleneck.json import LimitPart
from plimsoll.insights.trends.insight import INSIGHT as TRENDS
from plimsoll.insights.trends.insight import describe_trend
from plimsoll.model.document import Paragraph, Section, join_plain_text
from plimsoll.model.times import SECOND
from plimsoll.report.comparison.document import build_blocks
from plimsoll.report.comparison.json_document import build_document
from plimsoll.report.comparison.tables import TITLES
from plimsoll.report.first_screen import build_first_screen
from plimsoll.review.findings import CROSSED, JUDGED
from plimsoll.review.sentences import limit_of
from tests.insights import diagnosis

UNCHANGED = [
    TITLES[outcome] for outcome in (ComparisonOutcome.SAME, ComparisonOutcome.WITHIN, ComparisonOutcome.SPREAD)
]
MOVED = ("regression", "improvement", "change")
ALL_ROOM = ("no resource came near", "Nothing that was recorded limits", "The load was too small")
BUSY = ("cpu.busy", "cpu.busy_unstolen")
SECONDS = {"d": 86_400, "h": 3600, "min": 60, "s": 1}
DURATION = r"((?:\d[\d.]* (?:d|h|min|s)\b ?)+)"
# What lasts within a run; a limit counts after, a recording should last for, and a prediction lies beyond it.
LASTING = (
    rf"(?:(?:its limit|\d %|recorded|stopped|answered|still|failed)[^;.:(]*? for|steady state|ramp-\w+) {DURATION}"
)
IN_BRACKETS = rf"\({DURATION}(?:in all)?\)"


def contradictions(insights, text):
    """Return what a review says in opposite ways; `text` is its first screen."""
    review, first = insights.review, build_first_screen(insights)
    result = insights.of(BOTTLENECK)
    limit = LimitPart.model_validate(result).model_dump(mode="json") if result else None
    join = " ".join([review.headline, first.cause, *(part["text"] for part in (limit or {}).get("sentences", ()))])
    return [
        *diagnosis.contradictions({"limit": limit, "rules": [*map(_rule, filter(_has_subject, review.findings))]}),
        *_verdict(review, join),
        *_predictions(insights),
        *_next_step(review, first),
        *(f"{row.text}: twice as evidence" for row, count in Counter(first.evidence).items() if count > 1),
        *_lists(review, text.split("\n")),
        *_times(review, text),
        *_numbers(review, text),
    ]


def _next_step(review, first):
    """Find a verdict without a step to take, and a step that the headline says already."""
    if review.verdict != "healthy" and not first.next.startswith("Next: "):
        yield f"{review.verdict}, and next: {first.next}"
    if first.next and (first.next[6:-1] in " ".join(first.headline) or len(first.next.split()) < 5):
        yield f"{first.headline} But {first.next}"


def _has_subject(finding):
    return finding.subject is not None


def _rule(finding):
    return {
        "rule": finding.rule.id,
        "signal": finding.rule.signal,
        "host": finding.subject.host,
        "instance": finding.subject.instance,
        "severity": finding.rule.severity,
        "state": str(finding.outcome),
        "share_of_time": finding.share_of_time,
        "crossed_s": finding.time_crossed / SECOND,
        "superseded_by": finding.superseded_by,
        "threshold": {"limit": limit_of(finding).limit},
    }


def _verdict(review, values):
    """Find a verdict that is not that of the findings, and resources with room that have none."""
    severe = [finding.rule.id for finding in review.of(*CROSSED) if finding.severe]
    right = "not-healthy" if severe else "unknown" if review.doubts else None
    if (right and review.verdict != right) or (review.verdict == "not-healthy" and not severe):
        yield f"{review.verdict}: crossed {severe}, doubts {review.doubts}"
    of_hosts = [rule for rule in severe if not rule.startswith("objective")]
    of_hosts += [
        f.rule.id for f in review.findings if f.rule.signal in BUSY and (f.share_of_time or 0) > 0.1 and f.worst > 90
    ]
    if of_hosts and any(words in values for words in ALL_ROOM):
        yield f"{values} But {of_hosts[0]} was crossed."
    if ALL_ROOM[0] in values and "processors of" in values and "limit this run" in values:
        yield values


def _predictions(insights):
    """Find trends to limits that are passed, and signals that go both ways."""
    ways = {}
    for trend in insights.of(TRENDS):
        at = ways.setdefault((trend.name, trend.subject.key), trend.movement)
        if {at, trend.movement} == {"climbs", "falls"}:
            yield f"{describe_trend(trend)} But another one {at}."
        if trend.reaches_s and trend.limit and trend.limit.unfinished:
            yield f"{describe_trend(trend)} But it is past it."


def _lists(review, lines):
    """Find signals of one place that are in two lists, and those that are said not to be recorded and were judged."""
    crossed = re.findall(
        r"^\S (?:critical|warning)  (.+?) · (?:.*?, worst )?(.+?)(?: \(worst of \d+\))?  ", "\n".join(lines), re.M
    )
    rows = [re.split(" {2,}", line.strip()) for line in lines if "% room" in line]
    for title, place in [(row[0], row[1].partition(" (worst of")[0]) for row in rows]:
        if (title, place) in crossed:
            yield f"{title} of {place}: crossed, and within limits"
    names = "".join(line for line in lines if line.startswith("Not recorded"))
    for title in sorted((signal.title for signal in review.question.signals.values()), key=len, reverse=True):
        judged = [
            f for f in review.of(*JUDGED) if f.signal.title == title and f"{title} ({f.subject.host}" not in names
        ]
        if title in names and judged and len(review.computers) == 1:
            yield f"{title}: judged, and not recorded"
        names = names.replace(title, "")


def _times(review, text):
    """Find times outside the run, and what lasted for longer than it."""
    for finding in review.findings:
        for crossing in finding.crossings:
            if not review.start <= crossing.start <= crossing.end <= review.end:
                yield f"{finding.rule.id} of {finding.subject}: crossed outside the run"
    for words in (*re.findall(LASTING, text), *re.findall(IN_BRACKETS, text)):
        parts = re.findall(r"([\d.]+) (\w+)", words)
        if sum(float(count) * SECONDS[unit] for count, unit in parts) > (review.end - review.start) / SECOND + 1:
            yield f"{words} is longer than the run"


def _numbers(review, text):
    """Find two numbers for one thing, and one thing that is said twice."""
    answer = review.answer
    worst, head = (
        re.search(r"at worst (.+?)(?:[;,]| in the )", answer),
        re.search(r"^\S (?:critical|warning)  .*", text, re.M),
    )
    if review.verdict == "not-healthy" and worst and head and f"  {worst[1]}," not in head[0]:
        yield f"{worst[0]} But {head[0]}"
    result, hosts = re.search(r"(\d+) thresholds? held", answer), re.search(r"· (\d+) hosts ·", text)
    if result and int(result[1]) > review.coverage.judged:
        yield f"{result[0]}, but {review.coverage.text}"
    if hosts and f"apply to {hosts[1]} hosts" not in review.coverage.text:
        yield f"{hosts[0]} But {review.coverage.text}"
    clauses = Counter(re.split(r"[.;:,] ", answer.removesuffix(".")))
    yield from (f"{text}: twice" for text, count in clauses.items() if count > 1 and len(text.split()) > 2)


def of_comparison(comparison):
    """Return what a comparison says in opposite ways: counts, lists, and what was not recorded."""
    whole = build_document([comparison]).model_dump(mode="json", by_alias=True)["comparisons"][0]
    judged = [signal for signal in whole["signals"] if signal["phase"] == whole["phase"]]
    outcomes = Counter(signal["outcome"] for signal in judged)
    rows = [
        f"{count} {name}; listed are {outcomes[name]}"
        for name, count in whole["counts"].items()
        if count != outcomes[name]
    ]
    once = Counter()
    for name in ("only_baseline", "only_other", "both"):
        once.update(
            {(rule["signal"], rule["host"], rule["instance"], rule["rule"]) for rule in whole["thresholds"][name]}
        )
    rows += [f"{rule} of {host}: in two lists" for (_, host, _, rule), count in once.items() if count > 1]
    crossed = {signal["title"] for signal in judged if signal["limit_crossed_in"]}
    rows += [
        f"{sentence} But {title} crossed its limit in one alone"
        for sentence in list_account(comparison)
        for title in crossed
        if title.casefold() in sentence.casefold() and re.search(r"What did not change|uns of one build may", sentence)
    ]
    titles = {signal["title"] for signal in judged if signal["limit_crossed_in"] or signal["outcome"] in MOVED}
    for section in (
        block for block in build_blocks(comparison) if isinstance(block, Section) and block.title in UNCHANGED
    ):
        listed = " ".join(join_plain_text(part.text) for part in section.blocks if isinstance(part, Paragraph))
        rows += [
            f"{section.title}: {title}, past its limit in one alone or changed"
            for title in titles
            if f", {title}, " in f", {listed}, "
        ]
    return rows
