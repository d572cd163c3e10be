"""The work of hosts for which no operations were recorded, from their processor time and network traffic."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from plimsoll.model.samples import Samples
from plimsoll.review.phases.found_phases import Load, combine_series
from plimsoll.review.phases.throughput_loss import USUAL
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.recording.driver_tests import DRIVER
from plimsoll.rules.schema.signal import Signal

_BUSY, _NETWORK = "cpu.busy", ("network.bytes_total", "network.sent")
_TITLE = "Processor time and network traffic (% of the usual)"
_LEAST_BUSY = 5.0  # %: of processors that are less busy, noise shows; our choice


def find_host_work(recorded: RecordedSignals, signals: Mapping[str, Signal]) -> Iterator[Load]:
    """Yield the work of each host without recorded operations, in % of what is usual; none beside a load driver.

    It is processor time or network traffic, whichever is nearer to what is usual: both must fall for work to fall.
    Hosts without either of them, or with hardly any work, are left out.
    """
    names = {name for name, signal in signals.items() if signal.load == "operations" or name.startswith(DRIVER)}
    shown = {subject.key[0] for name in names for subject, samples in recorded.of(name).items() if samples.values.any()}
    if any(recorded.of(name) for name in names if name.startswith(DRIVER)):
        return
    for subject, samples in recorded.of(_BUSY).items():
        busy = samples.present
        usual = float(np.quantile(busy.values, USUAL))
        network = next(filter(None, (recorded.on(name, subject.host) for name in _NETWORK)), None)
        if subject.key[0] in shown or usual < _LEAST_BUSY or network is None:
            continue
        moved = combine_series(network)[1].present
        values = np.interp(busy.times, moved.times, moved.values)
        work = np.maximum(busy.values / usual, values / max(float(np.quantile(values, USUAL)), 1))
        signal = replace(signals[_BUSY], title=_TITLE)
        yield Load("operations", "host.work", signal, (subject,), Samples(busy.times, 100 * work))
