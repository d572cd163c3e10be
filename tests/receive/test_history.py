"""A whole range translated at once has the same values as the same samples that arrive one scrape after the other."""

import random

import numpy as np
import pytest

from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND
from plimsoll.receive.exporters.history import History
from plimsoll.receive.exporters.scrape import parse_samples
from plimsoll.receive.exporters.translate import AcceptedMetrics, Translator, find_host
from plimsoll.receive.line_protocol.parse import Parser
from plimsoll.rules.load import load
from tests.receive.test_backlog import MEMORY, MODES
from tests.receive.test_windows_exporter import SQL, WINDOWS

NOW = 1_790_000_000 * SECOND
LINUX = [
    *(
        ({"__name__": "node_cpu_seconds_total", "cpu": str(cpu), "mode": mode}, 9.0)
        for cpu in range(3)
        for mode in MODES
    ),
    *(({"__name__": name}, value) for name, value in MEMORY.items()),
    *(({"__name__": f"node_pressure_{kind}_waiting_seconds_total"}, 1.0) for kind in ("io", "cpu", "memory")),
    *(
        ({"__name__": f"node_filesystem_{name}", "device": "/dev/sda1", "fstype": "ext4", "mountpoint": "/"}, value)
        for name, value in {"size_bytes": 100, "free_bytes": 40, "avail_bytes": 30, "readonly": 0}.items()
    ),
]
OF_WINDOWS = [
    ({"__name__": sample.name, **sample.labels}, sample.value)
    for sample in parse_samples(WINDOWS + SQL.replace("COUNT", "1").encode())
]


def recorded(metrics, chance):
    """Two hundred scrapes: counters that are reset, samples that are missing, an instance that goes, and a gap."""
    series = []
    for labels, start in metrics:
        value, history = start, []
        for scrape in range(200):
            value = 0 if chance.random() < 0.005 else value + chance.choice([0, 1, chance.random()])
            is_gone = labels.get("cpu") == "2" and scrape > 60
            if not (is_gone or 100 <= scrape < 150 or chance.random() < 0.01):
                history.append((NOW + 15 * SECOND * scrape, value))
        series.append(({**labels, "instance": "web1:9100"}, history))
    return series


@pytest.mark.parametrize("metrics", [LINUX, OF_WINDOWS], ids=["node_exporter", "windows_exporter"])
def test_all_at_once_is_the_same_as_one_scrape_after_the_other(metrics):
    signals = load().signals
    series = recorded(metrics, random.Random(7))
    translator, parser, arrived = Translator(signals), Parser(), {}
    for at in sorted({at for _, history in series for at, _ in history}):
        taken = AcceptedMetrics(translator, at)
        for labels, history in series:
            of_scrape = [sample for sample in history if sample[0] == at]
            name = labels["__name__"]
            taken.add(
                tuple(labels.items()), lambda name=name, labels=labels: (name, labels, find_host(labels)), of_scrape
            )
        taken.finish()
        points = parser.parse(taken.lines, now=at).points
        for which, value in zip(points.which.tolist(), points.values.tolist(), strict=True):
            arrived[points.series[which], at] = value
    history = History(Translator(signals))
    for labels, of_series in series:
        times, values = zip(*of_series, strict=True)
        history.add(labels, Samples(np.array(times), np.array(values)))
    at_once = {
        (one, at): value
        for one, samples in history.take()
        for at, value in zip(samples.times.tolist(), samples.values.tolist(), strict=True)
    }
    assert len(arrived) > 1000
    assert at_once == arrived
