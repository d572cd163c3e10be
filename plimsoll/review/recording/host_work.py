"""The work of hosts for which no operations were recorded, from their processor time and network traffic."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from plimsoll.model.remark import join_names
from plimsoll.model.samples import Samples
from plimsoll.model.value_text import format_value
from plimsoll.review.phases.found_phases import Load, combine_series
from plimsoll.review.phases.throughput_loss import USUAL
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.recording.driver_tests import DRIVER
from plimsoll.rules.schema.signal import Signal

_BUSY, _NETWORK = "cpu.busy", ("network.bytes_total", "network.sent")
_TITLE = "Processor time and network traffic (% of the usual)"
# Our choices.
_LEAST_BUSY = 5.0  # %: of processors that are less busy, noise shows
_IDLE, _WORKS = 3.0, 20.0  # %: nine tenths of the samples of a host at rest, and of one at work


def find_host_work(recorded: RecordedSignals, signals: Mapping[str, Signal]) -> Iterator[Load]:
    """Yield the work of each host without recorded operations, in % of what is usual; none beside a load driver.

    It is processor time or network traffic, whichever is nearer to what is usual: both must fall for work to fall, and
    a batch that is over is no fall. Hosts without either of them, or with hardly any work, are left out.
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
        shares = busy.values / usual, values / max(float(np.quantile(values, USUAL)), 1)
        work = np.median((*shares, np.ones_like(values)), axis=0)
        signal = replace(signals[_BUSY], title=_TITLE)
        yield Load("operations", "host.work", signal, (subject,), Samples(busy.times, 100 * work))


def describe_idle_hosts(recorded: RecordedSignals) -> Iterator[str]:
    """Yield a sentence on hosts that were at rest, by processors and network, while others worked."""
    busy = {subject.host: of.present.values for subject, of in recorded.of(_BUSY).items() if of.present}
    usual = {host: float(np.quantile(values, 0.9)) for host, values in busy.items()}
    moved = {
        subject.host: float(np.nanmean(of.values)) for subject, of in recorded.of(_NETWORK[0]).items() if of.present
    }
    working = [host for host, value in usual.items() if value >= _WORKS]
    traffic = max((moved.get(host, 0.0) for host in working), default=0.0)
    idle = [host for host, value in usual.items() if value < _IDLE and moved.get(host, 0.0) <= traffic / 10]
    if working and idle:
        most = format_value(max(usual[host] for host in idle), "%")
        yield f"{join_names(idle, 3)} did next to nothing (processors busy for {most}) while {working[0]} worked."
