"""Finds the lines of charts by their specs, the worst first, and reads their samples in one call to the store."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from plimsoll.alerting import actions, space_forecast
from plimsoll.alerting.actions import Note
from plimsoll.alerting.alert import Alert
from plimsoll.alerting.alert_queries import read_history
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.usual_values import HOUR, LONGEST, find_usual_values
from plimsoll.charts.chart import MOST_LINES, ChartSeries
from plimsoll.dashboards.limits import select_drawn as drawn_limits
from plimsoll.model.errors import escape
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, Zone, format_duration
from plimsoll.pages.charts.chart_spec import Spec, make_raw_signal
from plimsoll.pages.charts.hosts_in_range import Scenes, SignalSource
from plimsoll.pages.charts.signal_values import compute_signals, draw_signals
from plimsoll.rules.host_filter import is_note
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_finder import list_read_series
from plimsoll.store.m4 import Drawn

_MOST_RANKED = 2_000_000  # samples that are read to find the worst lines
_INTERVAL = 10 * SECOND  # how often most series have a sample


@dataclass(frozen=True)
class ChartRange:
    """The time range of charts (UTC ns), their width in pixels (`columns`), and the time zone of their axis.

    `hosts` are all hosts, case-folded; the position of a host in `hosts` decides its colour.
    """

    start: int
    end: int
    columns: int
    zone: Zone
    hosts: Sequence[str] = ()


@dataclass(eq=False)
class ChartLine:
    """A line of a chart: spec, label, samples (`drawn`, None until read), and whether an alert on it fires."""

    spec: Spec
    source: SignalSource
    label: str = ""
    drawn: Drawn | None = None
    fires: bool = False

    @property
    def samples(self) -> Drawn:
        """The samples of the line, which must have been read."""
        assert self.drawn is not None
        return self.drawn

    @property
    def limits(self) -> Sequence[Rule]:
        """The rules whose limits are drawn on the line's chart."""
        return drawn_limits([rule for rule in self.source.rules if not is_note(rule)])


@dataclass(eq=False)
class ChartContent:
    """A chart. `undrawn` are the lines left out because there are too many.

    `ranked` says how the drawn lines were chosen, if any were left out; `problem` says why no line is drawn, if so.
    """

    title: str
    signal: Signal
    name: str
    lines: Sequence[ChartLine] = ()
    undrawn: Sequence[ChartLine] = ()
    ranked: str = ""
    alerts: Sequence[Alert] = field(default_factory=list[Alert])
    notes: Sequence[Note] = ()
    problem: str = ""
    beside: Sequence[ChartSeries] = ()  # lines that are no samples


class ChartReader:
    """Reads the lines, alerts and notes of the charts of one request."""

    def __init__(self, scenes: Scenes, file: AlertsFile, span: ChartRange) -> None:
        self._scenes = scenes
        self._file = file
        self._span = span

    def contents(self, charts: Sequence[Sequence[Spec]]) -> list[ChartContent]:
        """Return the content of each chart. All specs of a chart are drawn in the unit of its first spec."""
        contents = [self._plan(specs) for specs in charts]
        self._read([line for content in contents for line in content.lines], self._span.start, self._span.columns)
        alerts = read_history(self._file, self._span.start, self._span.end)
        noted = actions.find_notes(self._file, self._span.start, self._span.end)
        for content in contents:
            self._add_events(content, alerts, noted)
            if len(content.lines) == 1 and not content.undrawn:
                content.beside = [*self._list_projections(content.lines[0]), *self._list_usual(content.lines[0])]
        return contents

    def _list_projections(self, line: ChartLine) -> Iterator[ChartSeries]:
        """Yield the line from a volume's last free space to the time at which it will be full, by the last forecast."""
        if line.spec.signal != space_forecast.SPACE or self._span.end <= time.time_ns():
            return
        scene, subject = self._scenes.live(self._span.start, self._span.end), line.source.subject
        sources = scene.find(Spec(space_forecast.SIGNAL, (subject.host,), subject.instance))
        shown = line.samples.samples.present
        end = int(shown.times[-1])
        for source in sources[:1]:
            (forecast,) = compute_signals(scene.store, [source.origin], end - 2 * space_forecast.HOUR, end)
            hours = float(forecast.values[-1]) if len(forecast.times) else space_forecast.FAR
            if hours < space_forecast.FAR:
                times = np.array([end, end + int(hours * space_forecast.HOUR)])
                ends = Samples(times, np.array([shown.values[-1], 0.0]))
                yield ChartSeries("if it goes on", "line-1 dash-1", ends, marked=True)

    def _list_usual(self, line: ChartLine) -> Iterator[ChartSeries]:
        """Yield the highest and the lowest usual values of each hour of the range; nothing if they are not known."""
        start, end = self._span.start // HOUR * HOUR, -(-min(self._span.end, time.time_ns()) // HOUR) * HOUR
        if not 0 < end - start <= LONGEST:
            return
        key = line.spec, start, end, self._span.zone.name
        cached = self._scenes.usual.get(key)
        if cached is None:
            values = find_usual_values(self._scenes.store, line.source.origin, start, end, self._span.zone)
            cached = self._scenes.usual.put(key, (values,))
        for usual in cached:
            if usual:
                times = np.sort(np.concatenate((usual.hours, usual.hours + HOUR - 1)))
                for label, values in (("usually at most", usual.high), ("usually at least", usual.low)):
                    yield ChartSeries(label, "usual", Samples(times, np.repeat(values, 2)), marked=True)

    def _plan(self, specs: Sequence[Spec]) -> ChartContent:
        """Return the content of a chart, before its samples are read."""
        signals = self._scenes.signals
        unknown = next((spec.signal for spec in specs if spec.signal not in signals and not spec.is_raw), None)
        if unknown is not None:
            nothing = Signal(title=unknown[:100] or "?", unit="", meaning="", fact="processors")
            return ChartContent(nothing.title, nothing, unknown, problem=f'no signal is named "{unknown[:100]}"')
        name = specs[0].signal
        signal = signals.get(name) or make_raw_signal(name)
        scene = self._scenes.live(self._span.start, self._span.end)
        lines = [
            ChartLine(Spec(spec.signal, (source.subject.host,), source.subject.instance, spec.drive), source)
            for spec in specs
            for source in scene.find(spec)
        ]
        names = {spec.signal for spec in specs}
        title = _format_title(lines, signal) if len(names) == 1 else ", ".join(map(self._find_title, sorted(names)))
        for line in lines:
            line.label = self._label(line, lines)
        if len(lines) <= MOST_LINES:
            return ChartContent(title, signal, name, lines)
        lines, reach = self._sort_worst_first(lines, signal)
        extreme = "lowest" if signal.worse == "lower" else "highest"
        order = "nearest to their limits" if any(line.limits for line in lines) else extreme
        late = f" in the last {format_duration(reach)}" if reach else ""
        ranked = f"{MOST_LINES} of {len(lines)} lines, the {order}{late}; "
        return ChartContent(title, signal, name, lines[:MOST_LINES], lines[MOST_LINES:], ranked)

    def _add_events(self, content: ChartContent, alerts: Sequence[Alert], noted: Sequence[Note]) -> None:
        """Add the alerts and notes about a chart's lines to the chart, and remove the lines without samples."""
        lines = [*content.lines, *content.undrawn]
        subjects = {line.source.subject.key for line in lines}
        signals = {line.spec.signal for line in lines}
        content.alerts = [
            alert for alert in alerts if alert.signal in signals and alert.kind == "rule" and alert.key[1:] in subjects
        ]
        content.notes = [note for note in noted if note.concerns({host for host, _ in subjects})]
        content.lines = [line for line in content.lines if line.samples.count]
        firing = {alert.key[1:] for alert in content.alerts if alert.firing}
        for line in content.lines:
            line.fires = line.source.subject.key in firing

    def _find_title(self, name: str) -> str:
        return (self._scenes.signals.get(name) or make_raw_signal(name)).title

    def _label(self, line: ChartLine, lines: Sequence[ChartLine]) -> str:
        """Return the label of a line: signal, host and instance, as far as these differ between the chart's lines."""
        alike = [other for other in lines if other.spec.signal == line.spec.signal]
        subject, title = line.source.subject, self._find_title(line.spec.signal)
        places = [subject.host] if len({other.source.subject.key[0] for other in lines}) > 1 else []
        if subject.instance is not None and len({other.source.subject.key[1] for other in alike}) > 1:
            places.append(subject.instance)
        return ", ".join(places) or title if len(alike) == len(lines) else " · ".join([title, *places])

    def _read(self, lines: Sequence[ChartLine], start: int, columns: int) -> None:
        """Read the samples of these lines from `start` to the end of the range, in one call to the store."""
        origins = [line.source.origin for line in lines]
        read = draw_signals(self._scenes.store, origins, start, self._span.end, columns) if origins else []
        for line, drawn in zip(lines, read, strict=True):
            line.drawn = drawn

    def _sort_worst_first(self, lines: Sequence[ChartLine], signal: Signal) -> tuple[list[ChartLine], int]:
        """Return the lines, those nearest to their limits first, and how much of the range was compared (ns).

        If the range has too many samples, only its end is compared; 0 means that the whole range was compared.
        """
        series = sum(len(list_read_series(line.source.origin)) for line in lines)
        reach = max(_MOST_RANKED // series, 1) * _INTERVAL
        whole = self._span.end - self._span.start <= reach
        self._read(lines, max(self._span.start, self._span.end - reach), 1)
        return sorted(lines, key=lambda line: _compute_nearness(line, signal), reverse=True), 0 if whole else reach


def _compute_nearness(line: ChartLine, signal: Signal) -> tuple[int, float]:
    """Return a sort key, highest for the worst line: the values' largest excess over a limit, relative to the limit.

    Lines without limits come below lines with limits, and lines without values below all others.
    """
    values = line.samples.samples.present.values
    if not len(values):
        return -1, 0.0
    low, high = float(values.min()), float(values.max())
    shares: list[float] = []
    for rule in line.limits:
        limit = rule.healthy.limit
        beyond: Mapping[str, float] = {
            "higher": high - limit,
            "lower": limit - low,
            "either": max(abs(high - limit), abs(low - limit)),
        }
        shares.append(beyond[rule.healthy.worse] / (abs(limit) or 1))
    if shares:
        return 1, max(shares)
    return 0, -low if signal.worse == "lower" else high


def _format_title(lines: Sequence[ChartLine], signal: Signal) -> str:
    """Return the title of the signal, then the host and the instance if all lines share them."""
    hosts = {line.source.subject.key[0]: line.source.subject.host for line in lines}
    instances = {line.source.subject.instance for line in lines}
    places = [*hosts.values()] if len(hosts) == 1 else []
    places += [name for name in instances if name is not None] if len(places) == len(instances) == 1 else []
    return " · ".join([signal.title, *map(escape, places)])
