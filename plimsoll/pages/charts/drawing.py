"""Finds what charts show: the lines of their specs, the worst first, read from the store all at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.alerting import notes
from plimsoll.alerting.alert import Alert
from plimsoll.alerting.alert_queries import history
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.charts.chart import MOST_LINES
from plimsoll.dashboards.limits import drawn as drawn_limits
from plimsoll.model.errors import printable
from plimsoll.model.times import SECOND, duration_text
from plimsoll.pages.charts.chart_data import Ask, Content, Shown
from plimsoll.pages.charts.chart_spec import Spec
from plimsoll.pages.charts.host_signals import Found
from plimsoll.pages.charts.hosts_in_range import Scenes
from plimsoll.pages.charts.raw_series import is_raw, raw_signal
from plimsoll.pages.charts.signal_values import drawn
from plimsoll.rules.origins import series_of
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.superseded import is_note
from plimsoll.store.m4 import Drawn

_MOST_RANKED = 2_000_000  # samples that are read to find the worst lines
_EVERY = 10 * SECOND  # how often most series have a sample


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A line that may be drawn."""

    spec: Spec
    found: Found

    @property
    def alone(self) -> Spec:
        """The spec that shows this line alone."""
        subject = self.found.subject
        return Spec(self.spec.signal, (subject.host,), subject.instance, self.spec.drive)


@dataclass(eq=False)
class _Plan:
    """A chart whose lines are not read yet."""

    specs: Sequence[Spec]
    signal: Signal
    chosen: Sequence[_Candidate]
    rest: Sequence[_Candidate]
    ranked: str


class Drawing:
    """Finds what the charts of one request show."""

    def __init__(self, scenes: Scenes, file: AlertsFile, ask: Ask) -> None:
        self._scenes = scenes
        self._file = file
        self._ask = ask

    def contents(self, charts: Sequence[Sequence[Spec]]) -> list[Content]:
        """What each chart shows. Its specs are drawn together; they have one unit, that of the first."""
        plans = [self._planned(specs) for specs in charts]
        chosen = [one for plan in plans if isinstance(plan, _Plan) for one in plan.chosen]
        read = self._read(chosen, self._ask.start, self._ask.columns)
        alerts = history(self._file, self._ask.start, self._ask.end)
        noted = notes.between(self._file, self._ask.start, self._ask.end)
        return [plan if isinstance(plan, Content) else self._content(plan, read, alerts, noted) for plan in plans]

    def _content(
        self, plan: _Plan, read: dict[_Candidate, Drawn], alerts: Sequence[Alert], noted: Sequence[notes.Note]
    ) -> Content:
        every = [*plan.chosen, *plan.rest]
        shown = {one.found.subject.key for one in every}
        signals = {spec.signal for spec in plan.specs}
        own = [alert for alert in alerts if alert.signal in signals and alert.kind == "rule" and alert.key[1:] in shown]
        firing = {alert.key[1:] for alert in own if alert.firing}
        lines = [
            Shown(
                self._label(one, every, plan.signal),
                read[one],
                one.alone,
                one.found.rules,
                fires=one.found.subject.key in firing,
            )
            for one in plan.chosen
            if read[one].count
        ]
        return Content(
            title=_title(every, plan.signal) if len(signals) == 1 else ", ".join(map(self._title_of, sorted(signals))),
            signal=plan.signal,
            name=plan.specs[0].signal,
            lines=lines,
            more=[(self._label(one, every, plan.signal), one.alone) for one in plan.rest],
            ranked=plan.ranked,
            alerts=own,
            notes=[one for one in noted if notes.concerns(one, {host for host, _ in shown})],
        )

    def _title_of(self, name: str) -> str:
        return (self._scenes.signals.get(name) or raw_signal(name)).title

    def _label(self, one: _Candidate, every: Sequence[_Candidate], signal: Signal) -> str:
        """What tells a line from the others of its chart, which may be of several signals."""
        if len({other.spec.signal for other in every}) == 1:
            return _label(one, every, signal)
        alike = [other for other in every if other.spec.signal == one.spec.signal]
        title, places = self._title_of(one.spec.signal), _place(one, every, alike)
        return " · ".join([title, *places])

    def _planned(self, specs: Sequence[Spec]) -> _Plan | Content:
        known = self._scenes.signals
        unknown = next((one.signal for one in specs if one.signal not in known and not is_raw(one.signal)), None)
        if unknown is not None:
            nothing = Signal(title=unknown[:100] or "?", unit="", meaning="", fact="processors")
            return Content(nothing.title, nothing, unknown, (), problem=f'no signal is named "{unknown[:100]}"')
        signal = known.get(specs[0].signal) or raw_signal(specs[0].signal)
        scene = self._scenes.live(self._ask.start, self._ask.end)
        candidates = [_Candidate(spec, found) for spec in specs for found in scene.find(spec)]
        if len(candidates) <= MOST_LINES:
            return _Plan(specs, signal, candidates, (), "")
        ordered, reach = self._worst_first(candidates, signal)
        how = "nearest to their limits" if any(_lines(one.found.rules) for one in candidates) else "highest"
        if how == "highest" and signal.worse == "lower":
            how = "lowest"
        late = f" in the last {duration_text(reach)}" if reach else ""
        ranked = f"{MOST_LINES} of {len(ordered)} lines, the {how}{late}; "
        return _Plan(specs, signal, ordered[:MOST_LINES], ordered[MOST_LINES:], ranked)

    def _read(self, candidates: Sequence[_Candidate], start: int, columns: int) -> dict[_Candidate, Drawn]:
        """The samples of each from `start` on, in one call to the store."""
        origins = [one.found.origin for one in candidates]
        lines = drawn(self._scenes.store, origins, start, self._ask.end, columns) if origins else []
        return dict(zip(candidates, lines, strict=True))

    def _worst_first(self, candidates: Sequence[_Candidate], signal: Signal) -> tuple[list[_Candidate], int]:
        """The lines, those nearest to their limits first, and the time at the end in which they were compared.

        The time is 0 if it is the whole range.
        """
        parts = sum(len(series_of(one.found.origin)) for one in candidates)
        reach = max(_MOST_RANKED // parts, 1) * _EVERY
        whole = self._ask.end - self._ask.start <= reach
        read = self._read(candidates, max(self._ask.start, self._ask.end - reach), 1)
        order = sorted(
            range(len(candidates)),
            key=lambda at: _nearness(candidates[at].found.rules, signal, read[candidates[at]]),
            reverse=True,
        )
        return [candidates[at] for at in order], 0 if whole else reach


def _lines(rules: Sequence[Rule]) -> Sequence[Rule]:
    return drawn_limits([rule for rule in rules if not is_note(rule)])


def _nearness(rules: Sequence[Rule], signal: Signal, line: Drawn) -> tuple[int, float]:
    """How far values went towards a limit, or beyond: a share of the limit. Lines without limits come last."""
    values = line.samples.present.values
    if not len(values):
        return -1, 0.0
    low, high = float(values.min()), float(values.max())
    shares: list[float] = []
    for rule in _lines(rules):
        limit = rule.healthy.limit
        beyond = {"higher": high - limit, "lower": limit - low, "either": max(abs(high - limit), abs(low - limit))}
        shares.append(beyond[rule.healthy.worse] / (abs(limit) or 1))
    if shares:
        return 1, max(shares)
    return 0, -low if signal.worse == "lower" else high


def _title(every: Sequence[_Candidate], signal: Signal) -> str:
    """The signal, and the host and instance if there is but one."""
    hosts = {one.found.subject.key[0]: one.found.subject.host for one in every}
    instances = {one.found.subject.instance for one in every}
    places = [*hosts.values()] if len(hosts) == 1 else []
    places += [one for one in instances if one is not None] if len(places) == len(instances) == 1 else []
    return " · ".join([signal.title, *map(printable, places)])


def _place(one: _Candidate, every: Sequence[_Candidate], alike: Sequence[_Candidate]) -> list[str]:
    """The host and the instance, where others of the chart, or of its signal, have another."""
    subject = one.found.subject
    hosts = {other.found.subject.key[0] for other in every}
    instances = {other.found.subject.key for other in alike}
    named = [subject.host] if len(hosts) > 1 else []
    return [*named, *([subject.instance] if subject.instance is not None and len(instances) > 1 else [])]


def _label(one: _Candidate, every: Sequence[_Candidate], signal: Signal) -> str:
    """What tells a line from the others of its chart: its host and instance; the signal if it is the only one."""
    subject = one.found.subject
    parts: list[str] = []
    if len({other.found.subject.key[0] for other in every}) > 1:
        parts.append(subject.host)
    if subject.instance is not None and len({other.found.subject.key[1] for other in every}) > 1:
        parts.append(subject.instance)
    return ", ".join(parts) or signal.title
