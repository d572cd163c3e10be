"""An InfluxDB with live hosts, and with each log of examples/ loaded as a run."""

import json
import re
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from plimsoll.demo.runs import FACTS
from plimsoll.model.times import SECOND
from plimsoll.store.influx.server import Address, Server
from plimsoll.store.influx.store import influx_store
from plimsoll.store.store import Store
from tests.conftest import Bucket
from tests.grafana_components import live
from tests.servers.influx import InfluxDB
from tests.stored_runs import points_of, store_run

EXAMPLES = Path(__file__).parents[2] / "examples"
RUNS = [
    *sorted(f"{folder.parent.name}/{folder.name}" for folder in EXAMPLES.glob("*/trouble")),
    *(f"{kind}/healthy" for kind in ("messaging", "windows-today", "linux-today", "sql-server-today")),
]
LIVE = "live"
_LIVE_S = 1_800
WINDOWS, LINUX, MESSAGING = "windows-today/trouble", "linux-today/trouble", "messaging/trouble"
# The ranges that each dashboard is drawn for besides the live hosts', where a run recorded some of its signals.
RECORDED = {
    "active-directory": ["active-directory/trouble"],
    "cpu": [WINDOWS, LINUX],
    "disk": [WINDOWS, LINUX],
    "file-server": ["file-server/trouble"],
    "health": [MESSAGING, "file-server/trouble", "windows-today/trouble", "linux-today/trouble"],
    "ldap": ["dynamic-directory/trouble", "active-directory/trouble"],
    "memory": [WINDOWS, LINUX],
    "messaging": [MESSAGING],
    "network": [WINDOWS, LINUX],
    "roles": [WINDOWS],
    "runs": [MESSAGING],
    "sql-server": ["sql-server-today/trouble", MESSAGING],
}
HEALTHY = ["windows-today/healthy", "linux-today/healthy", "sql-server-today/healthy"]
# The runs that tests draw; each trouble with its healthy run where there is one to compare with.
DRAWN = [name for name in RUNS if name.endswith("healthy") or any(name in spans for spans in RECORDED.values())]


@dataclass(frozen=True)
class Filled:
    """A bucket, and the ranges (ms) of what is in it: the live hosts, and each run."""

    bucket: Bucket
    ranges: Mapping[str, tuple[int, int]]


def fill(bucket: Bucket, runs: Sequence[str] = RUNS) -> Filled:
    """Write the live hosts' last half hour, and load runs."""
    store = influx_store(Server(Address(bucket.url, bucket.org, bucket.bucket, bucket.token)))
    end = time.time_ns() // SECOND // 10 * 10
    for log in live.logs((end - _LIVE_S) * SECOND, end * SECOND):
        assert store.live.write_points(points_of(log)).refused == 0
    for name in runs:
        _load(store, name)
    ranges = {LIVE: ((end - _LIVE_S) * 1_000, end * 1_000)}
    for name in runs:
        run = store.runs.get(name)
        assert run, name
        ranges[name] = run.start // 1_000_000, run.end // 1_000_000
    return Filled(bucket, ranges)


def _load(store: Store, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _copy(EXAMPLES / name, Path(folder), days_earlier=1 if name.endswith("healthy") else 0)
        store_run(store, Path(folder), name)


def _copy(source: Path, target: Path, days_earlier: int) -> None:
    """Copy a run. Both runs of an example have the same hosts and times, so that one has to be earlier."""
    found = re.search(r"from = (\d{4}-\d\d-\d\d)", (source / FACTS).read_text("utf-8"))
    assert found
    day = date.fromisoformat(found[1])
    for path in source.iterdir():
        text = path.read_text("utf-8")
        for form in ("%Y-%m-%d", "%m/%d/%Y"):
            text = text.replace(f"{day:{form}}", f"{day - timedelta(days_earlier):{form}}")
        (target / path.name).write_text(text, "utf-8")


@contextmanager
def kept(folder: Path) -> Generator[Filled]:
    """An InfluxDB whose data is kept in a folder, filled the first time."""
    note = folder / "filled.json"
    with InfluxDB(folder) as made:
        if note.exists():
            yield Filled(Bucket.first(made), {name: tuple(ends) for name, ends in json.loads(note.read_text()).items()})
        else:
            filled = fill(Bucket.first(made))
            note.write_text(json.dumps(dict(filled.ranges)))
            yield filled
