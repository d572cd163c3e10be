"""The dashboards with a real Telegraf and InfluxDB: live data of this host, and loaded logs."""

import os
import re
import subprocess
import time
from collections import defaultdict
from itertools import combinations, product
from pathlib import Path

import pytest

from plimsoll.dashboards.areas import load_areas
from plimsoll.model.shipped_tables import shipped_files
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load_signals
from plimsoll.rules.resolved_sources import ResolvedFields, recorded_as
from plimsoll.rules.signal_finder import Finder
from plimsoll.rules.window import combined_rates
from plimsoll.store.influx import tokens
from plimsoll.store.influx.runs import influx_store
from plimsoll.store.influx.server import Address, Server
from tests.conftest import built
from tests.export.grafana.committed import dashboards
from tests.export.grafana.conftest import Influx
from tests.export.grafana.panel_queries import panels, questions
from tests.servers.influx import InfluxDB
from tests.stored_runs import store_run

EXAMPLES = Path(__file__).parents[3] / "examples"
# The healthy run of an example has the same counters as its run in trouble.
LOADED = [f"{kind.name}/trouble" for kind in sorted(EXAMPLES.iterdir()) if kind.is_dir()] + ["messaging/healthy"]
LIST, PAIRS = 1, 10  # panel ids of the dashboard Runs: the list, and the first panel of a pair
LIVE_SAMPLES = 4  # of this host, one every ten seconds: enough for rates, and for the minute that Health reads


class Watched:
    """A Telegraf and an InfluxDB that have run for a while, with each log of examples/ loaded as a run."""

    def __init__(self, folder):
        self.begun = time.time_ns()
        self._influxdb = InfluxDB(folder)
        self._made = self._influxdb.start()
        environment = {name: self._made[name] for name in (tokens.URL, tokens.ORG, tokens.BUCKET)}
        environment |= {"INFLUX_TOKEN": self._made[tokens.TOKEN_TELEGRAF], "PATH": os.defpath}
        command = [built("telegraf"), "--strict-env-handling", "--config", shipped_files("telegraf") / "linux.conf"]
        with (folder / "telegraf.log").open("wb") as log:
            self._telegraf = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        names = (tokens.URL, tokens.ORG, tokens.BUCKET, tokens.TOKEN_INGEST)
        self.store = influx_store(Server(Address(*(self._made[name] for name in names))))
        self._grafana = Influx(*(self._made[name] for name in (*names[:3], tokens.TOKEN_GRAFANA)))

    def load(self, name):
        store_run(self.store, EXAMPLES / name, name, merge=True)

    def span(self, name):
        """Return the range that a run's link opens, or that of the live host."""
        if name == "live":
            while self._live_samples() < LIVE_SAMPLES:
                time.sleep(1)
            # The range ends early enough that all its samples have been written.
            return self.begun, time.time_ns() - 5 * SECOND
        run = self.store.runs.get(name)
        assert run
        return run.start, run.end

    def _live_samples(self):
        """How many samples Telegraf has written of a field that it reads each time."""
        now = time.time_ns()
        found = [one for one in self.store.samples.series(self.begun, now).series if one.field == "n_cpus"]
        return min(self.store.samples.counts(found, self.begun, now), default=0)

    def stop(self):
        self._telegraf.terminate()
        self._telegraf.wait()
        self._influxdb.stop()

    def ask(self, queries):
        """Return for each query the tags of each series in the answer that has a value."""
        return [
            [one.tags for one in found if any(value is not None for row in one.rows for value in row[1:])]
            for found in self._grafana.ask(queries)
        ]

    def filled(self, uid, start, end, **variables):
        """Return the panels of a dashboard that are not empty in a range."""
        answers = defaultdict(dict)
        asked = [question for question in questions(dashboards()[uid]) if question.target]
        queries = [question.asked(start // 1_000_000, end // 1_000_000, variables) for question in asked]
        for question, tags in zip(asked, self.ask(queries), strict=True):
            answers[question.panel["id"]][question.target["refId"]] = tags
        shown = set()
        for panel in panels(dashboards()[uid]):
            for target in panel.get("targets", ()):
                found = answers[panel["id"]]
                if "panelId" in target:
                    continue  # it shows the answers of another panel
                if "query" in target:
                    shows = not target.get("hide") and found[target["refId"]]
                else:
                    shows = all_have(*(found[ref] for ref in re.findall(r"\$([A-Z]+)", target["expression"])))
                if shows:
                    shown.add(panel["id"])
        return shown


def all_have(*operands):
    """Whether a computed target has a value, which needs operands with matching labels."""
    return any(
        all(one.items() <= other.items() or other.items() <= one.items() for one, other in combinations(labels, 2))
        for labels in product(*operands)
    )


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    for program in ("influxd", "telegraf"):
        built(program)
    stack = Watched(tmp_path_factory.mktemp("stack"))
    try:
        for name in LOADED:
            stack.load(name)
        yield stack
    finally:
        stack.stop()


def recorded(watched, start, end):
    """Return the signals that have a value in a range."""
    series = watched.store.samples.series(start, end).series
    samples = {
        one.key: found for one, found in zip(series, watched.store.samples.read(series, start, end), strict=True)
    }
    signals = load_signals()
    finder = Finder(signals, series, lambda one: len(samples[one.key].times) > 1)

    def has_value(origin):
        origin = recorded_as(origin)
        if not isinstance(origin, ResolvedFields) or not origin.rate:
            return True
        # A disk that nothing was read from has no time per read.
        counts = [samples[one.key] for one in origin.fields]
        return len(combined_rates(origin.operation, counts).values) > 0

    return {name for name in signals if any(has_value(origin) for _, origin in finder.find(name).values())}


@pytest.mark.parametrize("name", [*LOADED, "live"])
def test_no_panel_that_applies_is_empty(watched, name):
    """A panel without recorded signals is empty. Dashboards of which a run has nothing are asked of the live host."""
    start, end = watched.span(name)
    found = recorded(watched, start, end)
    shown = 0
    for area in load_areas().areas:
        applies = {panel.id for panel in area.panels if panel.signal in found}
        if applies or name == "live":
            assert watched.filled(area.uid, start, end) == applies, area.area
        shown += len(applies)
    assert shown


@pytest.mark.parametrize("name", [*LOADED, "live"])
def test_health_shows_whatever_is_recorded(watched, name):
    start, end = watched.span(name)
    asking = {question.panel["id"] for question in questions(dashboards()["plimsoll-health"]) if question.target}
    assert watched.filled("plimsoll-health", start, end) == asking


def test_runs_lists_what_was_loaded_and_compares_two(watched):
    start, end = watched.span("messaging/trouble")
    found = recorded(watched, start, end)
    compared = load_areas().runs.compared
    applies = {PAIRS + 2 * at + side for at, signal in enumerate(compared) if signal in found for side in (0, 1)}
    shown = watched.filled("plimsoll-runs", start, end, run="messaging/trouble", baseline="messaging/healthy")
    assert shown == {LIST, *applies}
    assert len(applies) > 6
