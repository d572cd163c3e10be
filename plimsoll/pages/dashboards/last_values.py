"""The last value of each instance of a signal, for panels that are tables."""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND, duration_text
from plimsoll.model.value_text import quantity
from plimsoll.pages.charts.chart_spec import Spec
from plimsoll.pages.charts.hosts_in_range import Scene
from plimsoll.pages.charts.signal_values import drawn

_REACH = 900 * SECOND  # a last value is looked for so long before the end
_MOST = 50


@dataclass(frozen=True)
class LastValues:
    """Rows of host, instance and value, the worst first; `more` are not among them."""

    title: str
    rows: Sequence[tuple[str, str, str]]
    more: int
    reach: str


def last_values(scene: Scene, spec: Spec, start: int, end: int) -> LastValues:
    """The last value of each subject of a spec in a range. Unusable if its signal is not known."""
    signal = scene.signals.get(spec.signal)
    if signal is None:
        raise Unusable(f'No signal is named "{spec.signal}".')
    found = scene.find(spec)
    lines = drawn(scene.store, [one.origin for one in found], max(start, end - _REACH), end, 1)
    pairs = [
        (float(line.samples.present.values[-1]), one.subject)
        for one, line in zip(found, lines, strict=True)
        if line.count
    ]
    pairs.sort(key=lambda one: one[0], reverse=signal.worse != "lower")
    rows = [(subject.host, subject.instance or "", quantity(value, signal.unit)) for value, subject in pairs[:_MOST]]
    return LastValues(signal.title, rows, len(pairs) - len(rows), duration_text(min(_REACH, end - start)))
