"""Tables of statistics: every recorded signal, judged or not, and the counters that no known signal uses."""

from dataclasses import dataclass

from plimsoll.charts.scale import Scale, scale_for
from plimsoll.model.log import Values
from plimsoll.model.samples import Samples
from plimsoll.model.series import host_key
from plimsoll.model.times import Zone, duration_text
from plimsoll.model.value_text import number, percent
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.review import Review
from plimsoll.review.statistics import WHOLE_RUN, Figures, Weights, figures
from plimsoll.rules.subjects import Subject

_SHOWN_SUBJECTS = (8, 4, 2, 1)  # of one signal: the most with which all signals fit into
_MOST_ROWS = 240
_MOST_COUNTERS = 200


@dataclass(frozen=True)
class StatisticRow:
    """One signal of one subject in one phase; `low` if low values are the bad ones."""

    title: str
    place: str
    unit: str
    cells: tuple[str, ...]
    low: bool


@dataclass(frozen=True)
class StatisticTable:
    """One phase. `weighted` is whether samples are weighted by their sampling interval."""

    phase: str
    span: str
    rows: tuple[StatisticRow, ...]
    open: bool
    weighted: bool


@dataclass(frozen=True)
class Statistics:
    """The signals in each phase, other counters over the whole run, and how many of each are left out."""

    phases: tuple[StatisticTable, ...]
    hidden: int
    subjects: int
    counters: tuple[StatisticRow, ...]
    hidden_counters: int


@dataclass(frozen=True)
class _Chosen:
    title: str
    unit: str
    low: bool
    place: str
    samples: Samples
    weights: Values | None


def statistics(review: Review, signals: RecordedSignals, zone: Zone) -> Statistics | None:
    """The recorded signals over the whole run and in each phase, judged ones first; the longest phase is unfolded."""
    if review.start is None or review.end is None:
        return None
    chosen, hidden, subjects = _signals(review, signals)
    others = sorted(signals.others(), key=lambda one: (host_key(review.host_of(one)), one.path or one.field))
    weights = Weights()
    counters = [
        _Chosen(one.path or f"{one.measurement} {one.field}", "", False, review.host_of(one), samples, weights(samples))
        for one in others[:_MOST_COUNTERS]
        for samples in [signals.counter(one)]
    ]
    if not chosen and not counters:
        return None
    spans = [(WHOLE_RUN, review.start, review.end), *((p.name, p.start, p.end) for p in review.phases)]
    longest = max(range(len(spans)), key=lambda at: (at > 0, spans[at][2] - spans[at][1]))
    return Statistics(
        tuple(
            StatisticTable(
                name,
                f"{zone.span(start, end)}, {duration_text(max(0, end - start))}",
                tuple(_row(one, start, end) for one in chosen),
                at == longest,
                any(one.weights is not None for one in chosen),
            )
            for at, (name, start, end) in enumerate(spans)
            if chosen
        ),
        hidden,
        subjects,
        tuple(_row(one, review.start, review.end) for one in counters),
        len(others) - len(counters),
    )


def _signals(review: Review, signals: RecordedSignals) -> tuple[list[_Chosen], int, int]:
    """The worst subjects of each recorded signal; how many are left out; the most that are shown of one signal."""
    judged = dict.fromkeys(f.rule.signal for f in review.findings if f.track is not None)
    names = [name for name in dict.fromkeys((*judged, *review.question.signals)) if signals.of(name)]
    sizes = [len(signals.of(name)) for name in names]
    fitting = (most for most in _SHOWN_SUBJECTS if sum(min(most, size) for size in sizes) <= _MOST_ROWS)
    most = next(fitting, _SHOWN_SUBJECTS[-1])
    weights = Weights()
    chosen: list[_Chosen] = []
    for name in names:
        signal, found = review.question.signals[name], signals.of(name)
        low = signal.worse == "lower"
        worst = (
            sorted(found.items(), key=lambda item: _mean(item[1]), reverse=not low)
            if len(found) > most
            else found.items()
        )
        shown = sorted(list(worst)[:most], key=lambda item: _by_name(item[0]))
        chosen += [_Chosen(signal.title, signal.unit, low, str(s), found[s], weights(found[s])) for s, _ in shown]
    return chosen, sum(sizes) - len(chosen), most


def _by_name(subject: Subject) -> tuple[str, str]:
    return host_key(subject.host), subject.instance or ""


def _mean(samples: Samples) -> float:
    return float(samples.present.values.mean())


def _row(one: _Chosen, start: int, end: int) -> StatisticRow:
    """Mean, p95 and p99 (p5 and p1 if low values are the bad ones), highest, lowest, then the share and mean of the
    samples that are not zero, and the numbers of samples and of missing ones.
    """
    found: Figures = figures(one.samples, one.weights, start, end)
    counts = number(found.samples), number(found.missing)
    beyond = (found.p5, found.p1) if one.low else (found.p95, found.p99)
    levels = (found.mean, *beyond, found.maximum, found.minimum)
    scale = scale_for(max((abs(level) for level in levels if level is not None), default=0), one.unit)
    share = "–" if found.nonzero_share is None else percent(found.nonzero_share)
    cells = (*(_scaled(level, scale) for level in levels), share, _scaled(found.nonzero_mean, scale), *counts)
    return StatisticRow(one.title, one.place, scale.unit, cells, one.low)


def _scaled(value: float | None, scale: Scale) -> str:
    return "–" if value is None else number(value * scale.factor)
