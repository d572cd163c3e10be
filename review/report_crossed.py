"""What was crossed, as the report shows it: a section per rule, its worst subjects drawn, the rest in rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from model.numbers import number, percent, quantity
from model.samples import Samples
from model.sampling import sampling_interval
from model.times import Zone, words
from review.chart import STEPS, Chart, Frame, Line, draw
from review.findings import Finding, Outcome
from review.gauge import level, water
from review.report_beside import MOST as SIGNALS_PER_RULE
from review.report_beside import OWN_SCALE, Beside, beside_breaches
from review.report_signals import Signals
from review.review import Review
from review.sentences import breach_sentence, how_long, in_phase, limit_of, reduced, threshold, window, worst_text
from review.wording import lasted, place, used_by
from rules.crossings import Crossing
from rules.schema import Condition, Rule
from rules.wording import limit_text

DRAWN_PER_RULE = 8
DRAWN_IN_ALL = 24
_RULES_WITH_SIGNALS = 8  # the worst rules are shown with the signals they say to look at
_LISTED_BREACHES = 20
_LISTED_SUBJECTS = 120
_STEPS_IN_ALL = 12_000  # of all lines together: what keeps a report of many breaches small
_FEWEST_STEPS = 100


@dataclass(frozen=True)
class BreachRow:
    """One breach in a subject's table."""

    when: str
    lasted: str
    worst: str
    mean: str
    processes: str


@dataclass(frozen=True)
class DrawnSubject:
    """One breached subject in full."""

    place: str
    sentence: str
    facts: tuple[tuple[str, str], ...]
    water: str | None
    chart: Chart | None
    captions: tuple[tuple[str, str], ...]
    rows: tuple[BreachRow, ...]
    hidden_rows: int
    notes: tuple[str, ...]
    override: str
    processes: str
    beside: Beside | None
    reduced: str


@dataclass(frozen=True)
class Group:
    """One breached rule with all its breached subjects, worst first."""

    rule: Rule
    title: str
    place: str
    condition: str
    drawn: tuple[DrawnSubject, ...]
    rest: tuple[Finding, ...]
    hidden: int


def crossed(review: Review, zone: Zone, signals: Signals, frame: Frame | None) -> tuple[Group, ...]:
    """The breached rules, worst first. `frame` is None where the logs hold no rows."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in review.of(Outcome.CROSSED):
        by_rule.setdefault(finding.rule.id, []).append(finding)
    groups = list(by_rule.values())
    drawn = _share_out([len(group) for group in groups])
    lines = 2 * sum(drawn) + SIGNALS_PER_RULE * min(len(groups), _RULES_WITH_SIGNALS)
    artist = _Artist(review, zone, signals, frame, max(_FEWEST_STEPS, min(STEPS, _STEPS_IN_ALL // max(1, lines))))
    return tuple(
        _group(review, group, count, artist, beside=at < _RULES_WITH_SIGNALS)
        for at, (group, count) in enumerate(zip(groups, drawn, strict=True))
    )


def condition_text(condition: Condition, unit: str) -> str:
    """How a rule judges, in words: `mean over 1 min, for 5 min, in the steady phase`."""
    parts = [f"{condition.reduce} over {words(condition.over)}" if condition.over else condition.reduce]
    if isinstance(condition, Rule):
        parts += [f"for {words(condition.for_)}"] if condition.for_ else []
        parts += [f"in the {condition.phase} phase"] if condition.phase else []
        if condition.recover:
            parts.append(f"until {limit_text(condition.recover, unit, condition.scale)}")
    return ", ".join(parts)


def brief_crossings(finding: Finding) -> str:
    """How many crossings did not fire, and the longest of them: `3, longest 40 s`."""
    longest = max((one.duration for one in finding.brief), default=0)
    return number(len(finding.brief)) + (f", longest {words(longest)}" if longest else "") if finding.brief else ""


def _share_out(sizes: Sequence[int]) -> list[int]:
    """How many subjects of each rule are drawn: the worst of every rule first, then the second worst, and so on."""
    drawn = [0] * len(sizes)
    turns = zip_longest(*([at] * min(size, DRAWN_PER_RULE) for at, size in enumerate(sizes)))
    order = [at for turn in turns for at in turn if at is not None]
    for at in order[:DRAWN_IN_ALL]:
        drawn[at] += 1
    return drawn


def _group(review: Review, group: list[Finding], count: int, artist: "_Artist", *, beside: bool) -> Group:
    worst = group[0]
    rest = group[count:]
    hosts = {finding.subject.host.casefold() for finding in group if finding.subject}
    on = f"on {next(f.subject.host for f in group if f.subject)}" if len(hosts) == 1 else f"on {len(hosts)} hosts"
    many = f"{number(len(group))} instances {on}" if worst.signal.instances == "each" else f"{number(len(group))} hosts"
    return Group(
        rule=worst.rule,
        title=worst.signal.title,
        place=place(worst) if len(group) == 1 else many,
        condition=_whole_condition(review, worst),
        drawn=tuple(artist.subject(finding, beside=beside and at == 0) for at, finding in enumerate(group[:count])),
        rest=tuple(rest[:_LISTED_SUBJECTS]),
        hidden=max(0, len(rest) - _LISTED_SUBJECTS),
    )


def _whole_condition(review: Review, finding: Finding) -> str:
    text = condition_text(finding.rule, finding.signal.unit)
    for condition in finding.rule.and_:
        signal = review.question.signals[condition.signal]
        limit = limit_text(condition.healthy, signal.unit)
        text += f"; and {signal.title} ({condition_text(condition, signal.unit)}) not {limit}"
    return text


@dataclass(frozen=True)
class _Artist:
    """Draws the subjects of one report."""

    review: Review
    zone: Zone
    signals: Signals
    frame: Frame | None
    steps: int

    def subject(self, finding: Finding, *, beside: bool) -> DrawnSubject:
        """One breached subject in full; `beside` adds the signals its rule says to look at."""
        breaches = finding.breaches
        listed = sorted(sorted(breaches, key=lambda one: -one.duration)[:_LISTED_BREACHES], key=lambda one: one.start)
        chart = self._chart(finding)
        return DrawnSubject(
            place=place(finding),
            sentence=breach_sentence(finding),
            facts=self._facts(finding),
            water=water(level(finding)),
            chart=chart,
            captions=_captions(finding, chart) if chart else (),
            rows=tuple(self._row(finding, one) for one in listed) if len(breaches) > 1 else (),
            hidden_rows=len(breaches) - len(listed),
            notes=finding.notes,
            override=finding.override.note if finding.override else "",
            processes=used_by(finding, breaches[0].start) if len(breaches) == 1 else "",
            beside=beside_breaches(self.review, self.signals, finding, self.frame, self.steps)
            if beside and self.frame
            else None,
            reduced=reduced(finding),
        )

    def _facts(self, finding: Finding) -> tuple[tuple[str, str], ...]:
        breaches = finding.breaches
        facts = [
            ("Crossed", how_long(finding).removeprefix("for ") + in_phase(finding)),
            ("Worst", worst_text(finding)),
            ("Threshold", threshold(finding)),
            ("First" if len(breaches) > 1 else "From", self._clock(min(one.start for one in breaches))),
        ]
        if finding.share_of_time is not None:
            facts.append(("Share of the time judged", percent(finding.share_of_time)))
        if finding.brief:
            facts.append(("Brief crossings", brief_crossings(finding)))
        return tuple(facts)

    def _row(self, finding: Finding, one: Crossing) -> BreachRow:
        unit = finding.signal.unit
        when = f"{self._clock(one.start)} – {self._clock(one.end)}"
        return BreachRow(
            when,
            lasted(one.duration),
            quantity(one.worst, unit),
            quantity(one.mean, unit),
            used_by(finding, one.start),
        )

    def _clock(self, instant: int) -> str:
        return clock(self.review, self.zone, instant)

    def _chart(self, finding: Finding) -> Chart | None:
        track, samples = finding.track, finding.samples
        if self.frame is None or track is None or samples is None:
            return None
        judged = Samples(track.times, track.values)
        own_scale = finding.rule.reduce in OWN_SCALE
        lines = [] if own_scale else [Line(finding.signal.title, "samples", samples)]
        if own_scale or _differs(samples, judged):
            lines.append(Line(f"{finding.rule.reduce} over {window(finding)}", "judged", judged))
        spans = [
            (one.start, one.end, f"crossed {self._clock(one.start)} – {self._clock(one.end)}")
            for one in finding.breaches
        ]
        limit = limit_of(finding).limit
        return draw(
            self.frame,
            lines,
            finding.signal.unit,
            label=f"Chart: {breach_sentence(finding)} Crossed {how_long(finding)}.",
            limit=(limit, f"threshold {quantity(limit, finding.signal.unit)}"),
            breaches=_seen_apart(spans, (self.frame.end - self.frame.start) // STEPS),
            severity=finding.rule.severity,
            steps=self.steps,
        )


def clock(review: Review, zone: Zone, instant: int) -> str:
    """A time of the run: with its date where the run spans several days."""
    start, end = review.start or instant, review.end or instant
    return zone.clock(instant, date=zone.local(start).date() != zone.local(end).date())


def _differs(samples: Samples, judged: Samples) -> bool:
    """Whether the judged values are worth a line of their own beside the samples."""
    return not (
        np.array_equal(samples.times, judged.times) and np.array_equal(samples.values, judged.values, equal_nan=True)
    )


def _seen_apart(spans: list[tuple[int, int, str]], distance: int) -> list[tuple[int, int, str]]:
    """Breaches closer than the eye can tell are shaded as one."""
    merged: list[tuple[int, int, str]] = []
    for start, end, text in spans:
        if merged and start - merged[-1][1] <= distance:
            merged[-1] = (merged[-1][0], end, "several crossings")
        else:
            merged.append((start, end, text))
    return merged


def _every(finding: Finding) -> str:
    apart = sampling_interval(finding.track.times) if finding.track else None
    return f", every {words(apart)}" if apart else ""


def _captions(finding: Finding, chart: Chart) -> tuple[tuple[str, str], ...]:
    """How each line was drawn, by the kind of the line."""
    texts: list[tuple[str, str]] = []
    for line in chart.lines:
        if line.kind == "judged":
            texts.append((line.kind, f"{line.label}, which is judged{_every(finding)}"))
        else:
            texts.append((line.kind, line.how))
    return tuple(texts)
