"""One rule for one subject: what is true at each evaluation, the states of the alert, crossings, and the outcome."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from .catalogue import Condition, Limit, Rule
from .evaluation import idle_at, value_at
from .signals import PerRequest, Signal

PERIOD = 10_000
_KEPT = {("increase", "<"), ("increase", "="), ("max", "<"), ("max", "="), ("min", ">"), ("min", "=")}


@dataclass
class Alert:
    """One alert: pending since, and when it fired, if it did."""

    since: int
    fired_at: int | None = None


@dataclass
class Moment:
    """One evaluation: whether the condition was true (None: no data), and the value of the rule's own signal.

    `rest` is whether the conditions added with `and` were all true, None if one of them had no data.
    """

    at: int
    true: bool | None
    value: float | None
    rest: bool | None
    idle: bool  # it is the time of requests that were none, or too few
    alert: Alert | None = None
    renewed: bool = True  # a sample since the evaluation before makes it true


def grid(first: int, last: int) -> list[int]:
    """Return the evaluations from the first grid point at or after the first sample to that of the last."""
    return list(range(-(-first // PERIOD) * PERIOD, -(-last // PERIOD) * PERIOD + 1, PERIOD))


def judge(rule: Rule, conditions: list[tuple[Condition, Signal | None]], evaluations: list[int], over: int, ended: int):
    """Return the outcome of a rule for a subject, as the program's JSON has it; durations in ms.

    Limits of the conditions are already multiplied by facts; a signal the subject does not have is without data.
    `over` is how far back the rule's window looks, `ended` the last sample of the host, with which crossings end.
    """
    moments = _moments(conditions, evaluations)
    if conditions[0][0].reduce == "mean" and conditions[0][0].over > 60_000:
        _leave_out_parts(moments, conditions[0][0].over, rule.for_)
    _run_states(moments, rule.for_, rule.recover)
    _renew(moments, *conditions[0])
    with_data = [moment for moment in moments if moment.true is not None]
    badness = conditions[0][0].limit.badness
    inside = _within_the_data(moments, over)
    # Of the rule's own values, also where another condition is without data if no window with data for all is full.
    values = [moment.value for moment in moments if moment.at in inside and moment.value is not None]
    values = values or [moment.value for moment in moments if moment.value is not None]
    outcome: dict[str, Any] = {"state": "no-data", "worst": max(values, key=badness, default=None)}
    if not with_data:
        return outcome
    crossings = _runs(moments, lambda moment: moment.true)
    # Under `recover` an alert may fire after the evaluations that were past the limit, of which there must be enough.
    past = Counter(id(moment.alert) for moment in moments if moment.true)
    breaches = [
        run
        for run in crossings
        if run[0].alert and run[0].alert.fired_at is not None and past[id(run[0].alert)] * PERIOD >= rule.for_
    ]
    brief = [run for run in crossings if run not in breaches]
    stretch = max(run[-1].at - run[0].at for run in _runs(moments, lambda moment: moment.true is not None))
    true = sum(map(len, crossings))
    share = true / len(with_data)
    often = true and true * PERIOD >= rule.for_ and share >= rule.often
    return outcome | {
        "state": "crossed"
        if breaches
        else "often-crossed"
        if often
        else "too-short"
        if stretch < rule.for_
        else "held",
        "breaches": [_breach(run, badness, inside, ended) for run in breaches],
        "brief": [len(brief), max((end - start for start, end in (_span(run, ended) for run in brief)), default=0)],
        "share_of_time": share,
        "evaluations": len(with_data),
        "stretch": stretch,
    }


def _moments(conditions: list[tuple[Condition, Signal | None]], evaluations: list[int]) -> list[Moment]:
    columns = [_truth(condition, signal, evaluations) for condition, signal in conditions]
    return [
        Moment(at, _all([row[0] for row in rows]), rows[0][1], _all([row[0] for row in rows[1:]]), rows[0][2])
        for at, *rows in zip(evaluations, *columns, strict=True)
    ]


def _leave_out_parts(moments: list[Moment], over: int, for_: int):
    """Leave the means of less than the window without data, where the data lasts for the window and `for` together."""
    for run in _runs(moments, lambda moment: moment.true is not None):
        if run[-1].at - run[0].at >= over + for_:
            for moment in run:
                if moment.at < run[0].at + over:
                    moment.true = moment.value = moment.rest = None


def _renew(moments: list[Moment], condition: Condition, signal: Signal | None):
    """Mark the evaluations at which a new sample makes the condition true, where a window holds it longer than that."""
    side, reduce = condition.limit.operator[0], condition.reduce
    before: Moment | None = None
    if signal is None or (reduce, side) not in _KEPT:
        return
    for moment in moments:
        if reduce == "increase":
            last, earlier = (
                value_at(signal, "last", condition.over, row.at) if row else None for row in (moment, before)
            )
            begins = moment.true and not (before and before.true)
            moment.renewed = bool(begins or (last is not None and earlier is not None and last > earlier))
        else:
            value = value_at(signal, reduce, condition.over, moment.at, only=PERIOD - 1)
            moment.renewed = value is not None and not condition.limit.healthy(value)
        before = moment


def _truth(
    condition: Condition, signal: Signal | None, evaluations: list[int]
) -> list[tuple[bool | None, float | None, bool]]:
    """Whether the signal is past the limit at each evaluation, its value, and whether nobody waited."""
    if signal is None:
        return [(None, None, False)] * len(evaluations)
    values = [value_at(signal, condition.reduce, condition.over, at) for at in evaluations]
    if condition.is_constant:
        values = [
            next((other for other in (*reversed(values[: row + 1]), *values[row:]) if other is not None), None)
            for row in range(len(values))
        ]
    rows: list[tuple[bool | None, float | None, bool]] = []
    for at, sampled in zip(evaluations, values, strict=True):
        value = sampled if sampled is not None and condition.can_be[0] < sampled < condition.can_be[1] else None
        if isinstance(signal, PerRequest) and idle_at(signal, value, condition.over, at):
            rows.append((False, None, True))
        else:
            rows.append((None if value is None else not condition.limit.healthy(value), value, False))
    return rows


def _all(truths: list[bool | None]) -> bool | None:
    """One false makes it false; else one without data makes it no data; else it is true."""
    return False if False in truths else None if None in truths else True


def _run_states(moments: list[Moment], for_: int, recover: Limit | None):
    """Step the alert through the evaluations; where evaluations are left out it begins anew."""
    alert: Alert | None = None
    before: int | None = None
    for moment in moments:
        if before is not None and moment.at - before > PERIOD:
            alert = None
        true = moment.true
        if true is False and alert and recover and moment.value is not None and not moment.idle:
            # While there is an alert, `recover` stands in for the limit; the other conditions stay as they are.
            true = _all([not recover.healthy(moment.value), moment.rest])
        if true is None:
            alert = alert if alert and alert.fired_at is not None else None
        elif true:
            alert = alert or Alert(moment.at)
            if alert.fired_at is None and moment.at - alert.since >= for_:
                alert.fired_at = moment.at
        else:
            alert = None
        moment.alert, before = alert, moment.at


def _runs(moments: list[Moment], values) -> list[list[Moment]]:
    """Maximal runs of neighbouring evaluations that are as wanted."""
    runs: list[list[Moment]] = []
    for moment in filter(values, moments):
        if runs and runs[-1][-1].at == moment.at - PERIOD:
            runs[-1].append(moment)
        else:
            runs.append([moment])
    return runs


def _within_the_data(moments: list[Moment], over: int) -> set[int]:
    """The evaluations whose windows lie within the data, and all of crossings without any; all if there are none."""
    inside: set[int] = set()
    for stretch in _runs(moments, lambda moment: moment.true is not None):
        inside.update(moment.at for moment in stretch if moment.at - stretch[0].at >= over)
    for crossing in _runs(moments, lambda moment: moment.true):
        if not any(moment.at in inside for moment in crossing):
            inside.update(moment.at for moment in crossing)
    return inside or {moment.at for moment in moments}


def _breach(crossing: list[Moment], badness, inside: set[int], ended: int):
    """Start, end, when it fired, length, worst and mean value."""
    values = [moment.value for moment in crossing if moment.value is not None]
    alert = crossing[0].alert
    assert alert
    assert alert.fired_at is not None
    start, end = _span(crossing, ended)
    worst = max((row.value for row in crossing if row.at in inside and row.value is not None), key=badness)
    return [start, end, max(alert.fired_at, crossing[0].at), end - start, worst, sum(values) / len(values)]


def _span(crossing: list[Moment], ended: int) -> tuple[int, int]:
    """Its first evaluation and the last with a new sample that makes it true, or its last; not after the last sample."""
    last = next((row.at for row in reversed(crossing) if row.renewed), crossing[-1].at)
    return min(crossing[0].at, ended), min(last, ended)
