"""One rule for one subject: what is true at each evaluation, the states of the alert, crossings, and the outcome."""

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field

from .catalogue import Condition, Limit, Rule
from .signals import PerRequest, Signal
from .windows import idle_at, values_at

EVERY = 10_000


@dataclass
class Alert:
    """One alert: pending since, and when it fired, if it did."""

    since: int
    fired_at: int | None = None


@dataclass
class Moment:
    """One evaluation: whether the condition was true (None: no data), and the value of the rule's own signal.

    `others` is whether the conditions added with `and` were all true, None if one of them had no data.
    """

    at: int
    true: bool | None
    value: float | None
    others: bool | None
    alert: Alert | None = None
    spoilt: bool = False  # the value is one that cannot be
    idle: bool = False  # it is the time of requests that were none, or too few
    state: str = "no-data"


@dataclass
class Breach:
    """A crossing that fired."""

    start: int
    end: int
    fired_at: int
    worst: float
    mean: float


@dataclass
class Judgement:
    """What a review says of a rule and a subject. Durations in ms."""

    state: str
    worst: float | None = None
    breaches: list[Breach] = field(default_factory=list)
    brief: int = 0
    longest_brief: int = 0
    last_brief: int = 0
    share_of_time: float | None = None
    evaluations: int = 0
    stretch: int | None = None
    crossed_at_an_end: bool = False
    crossed_until: int | None = None  # the last evaluation with data, where it was crossed there
    spoilt: int = 0  # evaluations whose value cannot be
    valid: int = 0  # those with another value


def grid(first: int, last: int) -> list[int]:
    """The evaluations from the first grid point at or after the first sample to that of the last."""
    return list(range(_up(first), _up(last) + 1, EVERY))


def moments(conditions: list[tuple[Condition, Signal | None]], evaluations: list[int]) -> list[Moment]:
    """What is true at each evaluation; a signal the subject does not have is without data.

    Limits of the conditions are already multiplied by facts.
    """
    columns: list[list[float | None]] = [
        values_at(signal, one.reduce, one.over, tuple(evaluations)) if signal else [None] * len(evaluations)
        for one, signal in conditions
    ]
    for place, (one, _) in enumerate(conditions[1:], 1):
        columns[place] = _filled(columns[place]) if one.is_constant else columns[place]
    possible = [
        [value if value is not None and one.can_be[0] < value < one.can_be[1] else None for value in column]
        for column, (one, _) in zip(columns, conditions, strict=True)
    ]
    idle = [
        [isinstance(signal, PerRequest) and idle_at(signal, value, one.over, at) for value, at in pairs]
        for (one, signal), pairs in zip(
            conditions, (zip(one, evaluations, strict=True) for one in possible), strict=True
        )
    ]
    past = [
        [_past(one.limit, value, is_idle) for value, is_idle in zip(values, idles, strict=True)]
        for (one, _), values, idles in zip(conditions, possible, idle, strict=True)
    ]
    return [
        Moment(
            at,
            _all(known),
            None if is_idle else value,
            _all(known[1:]),
            spoilt=found is not None and value is None,
            idle=is_idle,
        )
        for at, found, value, is_idle, *known in zip(evaluations, columns[0], possible[0], idle[0], *past, strict=True)
    ]


def _past(limit: Limit, value: float | None, is_idle: bool) -> bool | None:
    """Whether a value is beyond the limit; None for no data."""
    if is_idle:
        return False
    return None if value is None else not limit.healthy(value)


def _filled(values: list[float | None]) -> list[float | None]:
    """Where there is no value, the last one before, or else the first one after."""
    return [
        next((other for other in (*reversed(values[: row + 1]), *values[row:]) if other is not None), None)
        for row in range(len(values))
    ]


def _all(known: list[bool | None]) -> bool | None:
    """One false makes it false; else one without data makes it no data; else it is true."""
    return False if False in known else None if None in known else True


def run_states(made: list[Moment], for_: int, recover: Limit | None, every: int = EVERY):
    """The state of the alert at each evaluation; where evaluations are left out it begins anew."""
    state, alert = "no-data", None
    before: int | None = None
    for moment in made:
        if before is not None and moment.at - before > every:
            state, alert = "no-data", None
        true = moment.true
        if true is False and alert and recover and moment.value is not None and not moment.idle:
            # While there is an alert, `recover` stands in for the limit; the other conditions stay as they are.
            true = _all([not recover.healthy(moment.value), moment.others])
        if true is None:
            if state != "firing":
                state, alert = "no-data", None
        elif true:
            alert = alert or Alert(moment.at)
            if alert.fired_at is None and moment.at - alert.since >= for_:
                alert.fired_at = moment.at
            state = "pending" if alert.fired_at is None else "firing"
        else:
            state, alert = "ok", None
        moment.state, moment.alert, before = state, alert, moment.at


def runs(made: list[Moment], wanted) -> list[list[Moment]]:
    """Maximal runs of neighbouring evaluations that are as wanted."""
    found: list[list[Moment]] = []
    for moment in made:
        if not wanted(moment):
            continue
        if found and found[-1][-1].at == moment.at - EVERY:
            found[-1].append(moment)
        else:
            found.append([moment])
    return found


def judged(
    rule: Rule,
    conditions: list[tuple[Condition, Signal | None]],
    evaluations: list[int],
    over: int,
    left_out: Set[int],
) -> Judgement:
    """The outcome of a rule for a subject whose signals were all recorded.

    `over` is how far back its window looks; `left_out` are evaluations with data that are not judged.
    """
    made = moments(conditions, evaluations)
    run_states(made, rule.for_, rule.recover)
    with_data = [moment for moment in made if moment.true is not None]
    badness = conditions[0][0].limit.badness
    told = _within_the_data(made, over, left_out)
    # Of the rule's own values, also where another condition is without data if no window with data for all is full.
    values = [moment.value for moment in made if moment.at in told and moment.value is not None]
    values = values or [moment.value for moment in made if moment.value is not None]
    worst = max(values, key=badness, default=None)
    spoilt, valid = sum(one.spoilt for one in made), sum(one.value is not None for one in made)
    if not with_data:
        return Judgement("no-data", worst, spoilt=spoilt, valid=valid)
    crossings = runs(made, lambda moment: moment.true)
    # Under `recover` an alert may fire after the evaluations that were past the limit, of which there must be enough.
    past = Counter(id(one.alert) for one in made if one.true)
    breaches = [
        one
        for one in crossings
        if one[0].alert and one[0].alert.fired_at is not None and past[id(one[0].alert)] * EVERY >= rule.for_
    ]
    brief = [one for one in crossings if one not in breaches]
    stretches = runs(made, lambda moment: moment.true is not None)
    stretch = max(_length(one) for one in stretches)
    true = sum(len(one) for one in crossings)
    share = true / len(with_data)
    if breaches:
        state = "crossed"
    elif true and true * EVERY >= rule.for_ and share >= rule.often:
        state = "often-crossed"
    elif stretch < rule.for_:
        state = "too-short"
    else:
        state = "held"
    return Judgement(
        state,
        worst=worst,
        breaches=[_breach(one, badness, told) for one in breaches],
        brief=len(brief),
        longest_brief=max((_length(one) for one in brief), default=0),
        last_brief=_length(brief[-1]) if brief else 0,
        share_of_time=share,
        evaluations=len(with_data),
        stretch=stretch,
        crossed_until=with_data[-1].at if with_data[-1].true else None,
        crossed_at_an_end=any(one[0].true or one[-1].true for one in stretches),
        spoilt=spoilt,
        valid=valid,
    )


def _within_the_data(made: list[Moment], over: int, left_out: Set[int]) -> set[int]:
    """The evaluations whose windows lie within the data, and all of crossings that have no such; all if there are none."""
    told: set[int] = set()
    for stretch in runs(made, lambda moment: moment.true is not None):
        begun = stretch[0].at - EVERY in left_out
        told.update(one.at for one in stretch if begun or one.at - stretch[0].at >= over)
    for crossing in runs(made, lambda moment: moment.true):
        if not any(one.at in told for one in crossing):
            told.update(one.at for one in crossing)
    return told or {one.at for one in made}


def _breach(crossing: list[Moment], badness, told: Set[int]) -> Breach:
    values = [moment.value for moment in crossing if moment.value is not None]
    alert = crossing[0].alert
    assert alert
    assert alert.fired_at is not None
    fired = max(alert.fired_at, crossing[0].at)
    worst = max((one.value for one in crossing if one.at in told and one.value is not None), key=badness)
    return Breach(crossing[0].at, crossing[-1].at, fired, worst, sum(values) / len(values))


def _length(run: list[Moment]) -> int:
    return run[-1].at - run[0].at


def _up(time: int) -> int:
    return -(-time // EVERY) * EVERY
