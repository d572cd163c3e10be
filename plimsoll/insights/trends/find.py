"""Trends of a run: signals that climb or fall although they must not, and signals that should rise.

A leaking process is found by memory that grows beyond what the load explains (Site Server Dynamic Directory, Memory,
the only check for leaks in the studies: DYN-025). So trends are sought in the steady phase, and trends that a climb of
the load may explain are not reported.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum

import numpy as np

from plimsoll.analysis.filters import compute_median
from plimsoll.analysis.trend import Trend, correct_trends, find_row_trends, find_trend
from plimsoll.insights.leading_signals import find_smallest_change
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series, make_host_key
from plimsoll.model.times import SECOND
from plimsoll.review.findings import Finding, Outcome
from plimsoll.review.phases.found_phases import Load
from plimsoll.review.review import Review
from plimsoll.review.sentences import limit_of
from plimsoll.rules.schema.field_types import Trend as TrendMeaning
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

_ID, _AGE = r"\id process", r"\elapsed time"  # counters of a process: the first stays constant, the second grows
_UPTIME = "system.uptime"


class Restarts:
    """The restarts of hosts and processes in the logs of a review."""

    def __init__(self, review: Review) -> None:
        self._review = review
        self._of_process: dict[tuple[str, str | None], list[Series]] = {}
        for series in dict.fromkeys(series for log in review.logs for series in log.series):
            if series.path.casefold().endswith((_ID, _AGE)):
                process = Subject(review.host_of(series), series.tag("instance"))
                self._of_process.setdefault(process.key, []).append(series)
        self._of_host: dict[str, list[int]] = {}
        for subject, samples in review.signals.of(_UPTIME).items():
            self._of_host.setdefault(make_host_key(subject.host), []).extend(_find_restarts(samples))

    def longest(self, name: str, subject: Subject, samples: Samples) -> Samples:
        """Return the longest part of a signal's samples without a restart of its host (or process, if it has one)."""
        restarts = list(self._of_host.get(make_host_key(subject.host), ()))
        for series in self._of_process.get(subject.key, ()) if name.startswith(_PROCESS) else ():
            is_id = series.path.casefold().endswith(_ID)
            restarts += _find_restarts(self._review.signals.counter(series), any_change=is_id)
        if not restarts:
            return samples
        edges = np.searchsorted(samples.times, sorted(restarts))
        bounds = np.concatenate(([0], edges, [len(samples.times)]))
        at = int(np.argmax(np.diff(bounds)))
        first, last = int(bounds[at]), int(bounds[at + 1])
        return Samples(samples.times[first:last], samples.values[first:last])


def _find_restarts(samples: Samples, *, any_change: bool = False) -> list[int]:
    """Return the times (UTC ns) of samples below the previous sample, or (if `any_change`) different from it."""
    present = samples.present
    steps = np.diff(present.values)
    return present.times[1:][(steps != 0) if any_change else (steps < 0)].tolist()


_STEADY = "steady"
_PROCESS = "process."
_SHORTEST = 540 * SECOND
_OF_PHASE = 0.6  # the least part of the phase, or of the run, that must have been recorded without a restart
_CHANGE = 0.05  # the least change over the recorded time, as a share of the level
_OF_SPACE = 0.01  # the same for the free space of a volume
_OF_LOAD = 0.5  # a load that changes by at least so much of what the signal does (as shares) may explain it
SOME_LOAD = 0.02  # a climb of the load by less is none
_FURTHEST = 5  # times the recorded time: a line is not drawn out further, or
WEEK_S = 7 * 86_400  # where its slope is known so well that the latest time is
_AT_MOST = 1.5  # times the best guess
_HOUR = 3600
_LAST_SAMPLES = 3
_END, _SHOWN_ENDS = 40, 5  # the last fortieth of the samples bounds the last level; samples at each end are shown
_MOST_AHEAD = 3  # a third of the samples at most tell whether the trend goes on
_STOPPED, _SELDOM = 0.4, 0.05  # of the slope; of the steps are as small: the trend is over
_MOST = 200


class Movement(StrEnum):
    """Whether a signal climbs, falls, or does neither over the examined time."""

    CLIMBS = "climbs"
    FALLS = "falls"
    NONE = "none"


@dataclass(frozen=True, eq=False)
class SignalTrend:
    """The trend of a signal for which the catalogue says what a trend means.

    Attributes:
        meaning: What the catalogue says about a trend of the signal.
        phase: The examined phase; None for the whole run.
        start: The first examined sample (UTC ns).
        end: The last examined sample (UTC ns).
        notable: Whether to report the trend: a move in the wrong direction, or a signal that should rise, and rises or
            is too low.
        load: The load that the trend was compared with; None if no load was recorded.
        load_share: The climb of the load in the examined time, as a share of its level; 0 unless the load climbed
            throughout.
        explained: Whether the climb of the load may explain the trend.
        limit: The nearest limit of a rule that the last sample had not reached; None without such a limit.
        passed: A warning or critical limit that the last samples passed for too short a time to count; else None.
        reaches_s: The time from the last sample until the trend reaches `limit` (s): best guess, earliest, latest, from
            the errors of slope and level. None if that is too far away to tell.
        highest: The highest sample.
        ends: The medians of the first and of the last samples.
    """

    name: str
    signal: Signal
    meaning: TrendMeaning
    subject: Subject
    phase: str | None
    start: int
    end: int
    movement: Movement
    notable: bool
    trend: Trend
    load: Load | None
    load_share: float
    explained: bool
    limit: Finding | None
    passed: Finding | None
    reaches_s: tuple[float, float, float] | None
    highest: float
    ends: tuple[float, float]

    @property
    def per_hour(self) -> tuple[float, float, float]:
        """The change of the signal per hour, and the ends of its 95 % interval."""
        return self.trend.slope * _HOUR, self.trend.interval[0] * _HOUR, self.trend.interval[1] * _HOUR


def find_trends(review: Review) -> tuple[SignalTrend, ...]:
    """Return the trends of all signals for which the catalogue says what a trend means; notable trends are first."""
    if review.start is None or review.end is None:
        return ()
    steady = max((p for p in review.phases if p.name == _STEADY), key=lambda p: p.end - p.start, default=None)
    looked_at = steady or Phase("", review.start, review.end)
    if looked_at.end - looked_at.start < _SHORTEST:
        return ()
    load = review.loads[0] if review.loads and review.loads[0].kind else None
    recorded = load.samples.between(looked_at.start, looked_at.end).present if load else None
    climb = find_trend(_convert_to_seconds(recorded), recorded.values) if recorded and len(recorded.times) else None
    climbed = _compute_share(climb) if climb and climb.direction > 0 else 0.0
    signal_trends = list(_list_trends(review, looked_at, load, climbed))
    notable = [trend for trend in signal_trends if trend.notable]
    shown = [trend for trend in signal_trends if not any(_is_stand_in(other, trend) for other in notable)]

    def order(trend: SignalTrend) -> tuple[bool, float]:
        """Return a sort key: notable trends first, then trends that soon reach a limit, then by relative change."""
        soon = 1e6 / (1 + trend.reaches_s[0]) if trend.reaches_s else 0.0
        return not trend.notable, -soon - abs(_compute_share(trend.trend))

    return tuple(sorted(shown, key=order)[:_MOST])


def _is_stand_in(other: SignalTrend, trend: SignalTrend) -> bool:
    """Return whether `other` is to be shown for `trend`, as it is the same quantity in another unit.

    Of disk.free and disk.free_bytes, for example, the signal with a limit is shown, else the signal with the shorter
    name.
    """
    short, long = sorted((trend.name, other.name), key=len)
    if other is trend or other.subject.key != trend.subject.key or not long.startswith(f"{short}_"):
        return False
    return (other.limit is not None, -len(other.name)) > (trend.limit is not None, -len(trend.name))


def _convert_to_seconds(samples: Samples) -> Values:
    """Return the times since the first sample (s)."""
    return (samples.times - samples.times[0]) / SECOND


def _list_trends(review: Review, looked_at: Phase, load: Load | None, climbed: float) -> Iterator[SignalTrend]:
    """Yield the trend of each signal for which a trend has a meaning, in the examined phase, without restarts."""
    restarts = Restarts(review)
    judged = group_pairs(
        ((finding.rule.signal, finding.subject), finding)
        for finding in review.findings
        if finding.track and finding.severe
    )
    span = looked_at.start, looked_at.end
    shortest = max(_SHORTEST, _OF_PHASE * (looked_at.end - looked_at.start))
    for name, signal in review.question.signals.items():
        if signal.trend is None:
            continue
        present = ((subject, samples.present) for subject, samples in review.signals.of(name).items())
        parts = [
            (subject, recorded, restarts.longest(name, subject, recorded.between(*span)))
            for subject, recorded in present
        ]
        long = [part for part in parts if len(part[2].times) and _may_have_trend(name, signal, part[2], shortest)]
        for (subject, recorded, longest), (line, smallest) in zip(
            long, _find_trends_beside([longest for *_, longest in long], signal, load), strict=True
        ):
            if line is None:
                continue
            start, end = int(longest.times[0]), int(longest.times[-1])
            moved = line.direction and abs(line.end - line.start) >= smallest
            movement = Movement.NONE if not moved else Movement.CLIMBS if line.direction > 0 else Movement.FALLS
            explained = movement != Movement.NONE and climbed >= max(SOME_LOAD, _OF_LOAD * abs(_compute_share(line)))
            of_subject = judged.get((name, subject), [])
            last, after_middle_s = _find_last_level(line, longest, recorded)
            levels = np.array([last, compute_median(recorded.values[-_LAST_SAMPLES:])])
            passed = [finding for finding in of_subject if _is_passed(finding, levels)]
            limit = _limit([finding for finding in of_subject if finding not in passed], line, last)
            yield SignalTrend(
                name,
                signal,
                signal.trend,
                subject,
                looked_at.name or None,
                start,
                end,
                movement,
                _is_notable(signal, movement, explained, limit, longest),
                line,
                load,
                climbed,
                explained,
                limit,
                next((finding for finding in passed if finding.outcome == Outcome.WITHIN), None),
                _predict_reach(line, limit, longest, last, after_middle_s),
                float(longest.values.max()),
                (compute_median(longest.values[:_SHOWN_ENDS]), compute_median(longest.values[-_SHOWN_ENDS:])),
            )


def _may_have_trend(name: str, signal: Signal, samples: Samples, shortest: float) -> bool:
    """Return whether samples last `shortest` ns or longer; for processes (many), also whether values change."""
    if samples.times[-1] - samples.times[0] < shortest:
        return False
    return not name.startswith(_PROCESS) or _may_change(samples.values, signal)


def _may_change(values: Values, signal: Signal) -> bool:
    """Return whether the mean of the last third of the values differs from that of the first third: a cheap check."""
    third = max(1, len(values) // 3)
    change = abs(float(values[-third:].mean() - values[:third].mean()))
    return change >= find_smallest_change(signal.unit) / 4


def _find_trends_beside(
    recorded: Sequence[Samples], signal: Signal, load: Load | None
) -> Iterator[tuple[Trend | None, float]]:
    """Yield, for the samples of each subject of a signal, the trend and the smallest change that counts as a trend.

    The trend is corrected for other influences: caches that fill at first, the load, the time of day.
    """
    loads = load.samples.present if load else None
    for group in _group_sampled_together(recorded):
        samples = group[0]
        seconds, rows = _convert_to_seconds(samples), [subject.values for subject in group]
        around = None
        if loads is not None and loads.times[0] <= samples.times[0] and loads.times[-1] >= samples.times[-1]:
            around = np.interp(seconds, (loads.times - samples.times[0]) / SECOND, loads.values)
        smallest = [_find_smallest_change(signal, values) for values in rows]
        trends = correct_trends(find_row_trends(seconds, rows), seconds, rows, smallest, around)
        yield from zip(trends, smallest, strict=True)


def _group_sampled_together(recorded: Sequence[Samples]) -> Iterator[list[Samples]]:
    """Yield the samples of the subjects in order, in groups of neighbours that have the same times."""
    alike: list[Samples] = []
    for samples in recorded:
        if alike and not np.array_equal(alike[0].times, samples.times):
            yield alike
            alike = []
        alike.append(samples)
    if alike:
        yield alike


def _find_smallest_change(signal: Signal, values: Values) -> float:
    """Return the smallest change of a signal that counts as a trend.

    For the space of a volume it is smaller, as a slow trend may fill the volume within a week.
    """
    level = float(np.abs(values).mean())
    return (
        _OF_SPACE * level if signal.resource == "space" else max(_CHANGE * level, find_smallest_change(signal.unit) / 2)
    )


def _compute_share(line: Trend) -> float:
    """Return the change from the start to the end of a line, as a share of the value in the middle."""
    middle = abs(line.start + line.end) / 2
    return (line.end - line.start) / middle if middle else 0.0


def _is_notable(signal: Signal, movement: Movement, explained: bool, limit: Finding | None, samples: Samples) -> bool:
    if signal.trend == "should_rise":
        # If the rule did not fire, its other conditions decide, such as the size of the cache for page life.
        counts = limit if limit is not None and limit.outcome != Outcome.WITHIN else None
        below = counts is not None and float(samples.values.max()) <= limit_of(counts).limit
        return movement == Movement.CLIMBS or below
    wrong = Movement.CLIMBS if signal.trend == "must_not_rise" else Movement.FALLS
    return movement == wrong and not explained


def _find_last_level(line: Trend, samples: Samples, recorded: Samples) -> tuple[float, float]:
    """Return the level of a line at the last sample, and the time (s) from the middle of the line to that sample.

    If recording continued after the line, the level is that of the last samples. It is never beyond the last values.
    """
    span, last = ((end - samples.times[0]) / SECOND for end in (samples.times[-1], recorded.times[-1]))
    latest = samples.values[-max(_LAST_SAMPLES, len(samples.values) // _END) :]
    value = float(np.clip(line.end, latest.min(), latest.max()))
    if last > span:
        seconds = (recorded.times[-_LAST_SAMPLES:] - samples.times[0]) / SECOND
        off = recorded.values[-_LAST_SAMPLES:] - line.start - line.slope * seconds
        value = line.start + line.slope * float(last) + float(np.median(off))
    return value, float(last) - float(span) / 2


def _limit(judged: Sequence[Finding], line: Trend, last: float) -> Finding | None:
    """Return the finding with the nearest limit that the line moves towards; None without such a limit.

    For a signal that should rise, return the finding with the highest lower limit.
    """
    if not judged:
        return None
    if judged[0].signal.trend == "should_rise":
        floors = [f for f in judged if limit_of(f).worse == "lower" and f.rule.reduce != "increase"]
        return max(floors, key=lambda f: limit_of(f).limit, default=None)
    ahead = [f for f in judged if f.rule.reduce != "increase" and (limit_of(f).limit - last) * line.slope > 0]
    return min(ahead, key=lambda f: abs(limit_of(f).limit - last), default=None)


def _is_passed(finding: Finding, levels: Values) -> bool:
    """Return whether one of the last levels is past the limit of a rule whose other conditions are met at the end."""
    track = finding.track
    if track is None or finding.rule.reduce == "increase" or finding.signal.trend == "should_rise":
        return False
    return bool(track.other_conditions_hold[-1]) and not track.healthy.holds(levels).all()


def _predict_reach(
    line: Trend, limit: Finding | None, samples: Samples, last: float, after_middle_s: float
) -> tuple[float, float, float] | None:
    """Return when the line reaches the limit (s after the last sample): best guess, earliest, latest.

    None if the line does not reach it, only after a time too long to tell, or if the last samples no longer move.

    The interval is that of Fieller (1954) for the ratio of a distance and a slope; the distance has the error of the
    level in the middle of the line.
    """
    if limit is None or limit.signal.trend == "should_rise" or line.may_be_level:
        return None
    slope, reach = line.slope, (line.interval[1] - line.interval[0]) / 2
    recorded_s = float(_convert_to_seconds(samples)[-1])
    best = (limit_of(limit).limit - last) / slope
    if _has_stopped(samples, slope, best / recorded_s):
        return None
    distance = slope * (best + after_middle_s)
    width, level = slope**2 - reach**2, (reach * recorded_s) ** 2 / 12
    root = float(np.sqrt(max(0.0, (distance * slope) ** 2 - width * (distance**2 - level))))
    early, late = ((distance * slope + side * root) / width - after_middle_s for side in (-1, 1))
    known_well = best <= WEEK_S and late <= _AT_MOST * best
    return (best, max(0.0, early), late) if best <= _FURTHEST * recorded_s or known_well else None


def _has_stopped(samples: Samples, slope: float, ahead: float) -> bool:
    """Return whether the last samples hardly move, by the two halves of a time as long as the forecast.

    `ahead` is the time of the forecast as a share of the recorded time. Of values that go up and down, the last step
    may be small by chance; then many others are, too.
    """
    count = len(samples.values)
    rows = max(_LAST_SAMPLES, int(np.clip(ahead, 1 / _END, 1 / _MOST_AHEAD) * count / 2))
    parts = samples.values[count % rows :].reshape(-1, rows)
    steps = np.diff(np.median(parts, axis=1)) * np.sign(slope)
    usual = abs(slope) * rows * float(_convert_to_seconds(samples)[-1]) / (count - 1)
    return bool(steps[-1] < _STOPPED * usual and (steps < steps[-1]).mean() <= _SELDOM)
