"""Facts of a host that its logs show."""

from pathlib import Path

import numpy as np
import pytest

from plimsoll.hosts.facts import find_recorded_facts
from plimsoll.model.log import Log
from plimsoll.model.names import find_measurement
from plimsoll.model.series import Series
from plimsoll.model.times import Zone


@pytest.mark.parametrize(("queues", "processors"), [(["0"], None), (["0", "1", "Blocking Queue"], 2)])
def test_work_queues_count_processors_unless_there_is_only_one(queues, processors):
    """Each processor has a queue, besides the Blocking Queue. A single queue may be a selection from several."""
    name = "Server Work Queues"
    series = tuple(
        Series("WEB01", find_measurement(name), (("instance", queue), ("objectname", name)), "Queue_Length")
        for queue in queues
    )
    columns = tuple(np.array([0.0]) for _ in series)
    log = Log(Path("log.csv"), "PDH-CSV", np.array([0], dtype=np.int64), columns, series, Zone.parse("UTC"))
    assert find_recorded_facts([log]).get(("web01", None), {}).get("processors") == processors
