"""A host and its directory watched live, as docs/telegraf.md sets them up, and read back from the store."""

import json
import multiprocessing
import os
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from plimsoll.rules.grid import EVERY
from plimsoll.rules.load import load_signals
from plimsoll.rules.origins import series_of
from plimsoll.rules.signal_finder import Finder
from plimsoll.store.influx.runs import influx_store
from plimsoll.store.influx.server import Address, Server
from tests.telegraf.conftest import until

TELEGRAF = Path(__file__).parents[2] / "telegraf"
SECOND = 10**9
COLLECTED = {
    *("cpu", "kernel", "processes", "mem", "swap", "system", "net", "diskio", "kernel_vmstat"),
    *("openldap", "ldap_probe"),
}
# There only where the disk had a request in the last ten seconds.
MAY_BE_IDLE = {"disk.read_latency", "disk.write_latency"}
SETTINGS = """\
[rules.cpu-busy]
healthy = "< 30"
over = "2s"
for = "0s"
reason = "to see a busy loop of some seconds on half of the processors"
"""


def busy():
    while True:
        pass


@contextmanager
def running(command, environment):
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=300)


def idle(store, start):
    """The shares of time all processors together were idle, since a start, by time."""
    found = [one for one in store.samples.series(start, time.time_ns()).series if one.field == "usage_idle"]
    whole = [one for one in found if one.tag("cpu") == "cpu-total"]
    (found,) = store.samples.read(whole, start, time.time_ns()) or [None]
    return dict(zip(found.times.tolist(), found.values.tolist(), strict=True)) if found else {}


def was_busy(idle):
    """Whether half of the time was used in the two seconds before an evaluation, which is every ten seconds."""
    return any(at % EVERY == 0 and all(idle.get(at - ago, 100) < 60 for ago in (0, SECOND)) for at in idle)


def test_a_live_host_is_seen_in_every_signal_and_a_busy_loop_as_a_breach(
    telegraf, configuration, environment, slapd, bucket, plimsoll, monkeypatch, tmp_path
):
    environment |= {
        "INFLUX_URL": bucket.url,
        "INFLUX_ORG": bucket.org,
        "INFLUX_BUCKET": bucket.bucket,
        "INFLUX_TOKEN": bucket.telegraf_token,
    }
    store = influx_store(Server(Address(bucket.url, bucket.org, bucket.bucket, bucket.token)))
    command = [
        str(telegraf),
        "--strict-env-handling",
        "--config",
        str(TELEGRAF / "linux.conf"),
        "--config",
        str(configuration),
        "--config",
        str(tmp_path / "own.conf"),
    ]
    (tmp_path / "own.conf").write_text('[agent]\ninterval = "1s"\nflush_interval = "1s"\n')  # nothing depends on it
    begun = time.time_ns()
    with running(command, environment), slapd.load():
        until(lambda: len(idle(store, begun)) >= 8)
        loops = [multiprocessing.Process(target=busy) for _ in range(((os.cpu_count() or 1) + 1) // 2)]
        time.sleep((5 * SECOND - time.time_ns()) % EVERY / SECOND)  # in the middle between two evaluations
        since = time.time_ns()
        for loop in loops:
            loop.start()
        until(lambda: was_busy(idle(store, since)))
        for loop in loops:
            loop.kill()
            loop.join()

    found = store.samples.series(begun, time.time_ns())
    samples = dict(
        zip([one.key for one in found.series], store.samples.read(found.series, begun, time.time_ns()), strict=True)
    )
    signals = load_signals()
    finder = Finder(signals, found.series, lambda series: len(samples[series.key].times) > 0)
    apply = {name for name, one in signals.items() for source in one.sources if source.measurement in COLLECTED}
    assert len(apply) > 20
    for name in apply - MAY_BE_IDLE:
        subjects = finder.find(name)
        assert subjects, name
        for _, origin in subjects.values():
            for series in series_of(origin):
                assert len(samples[series.key].times) >= 5, name

    for name, value in {**environment, "INFLUX_TOKEN": bucket.token}.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "plimsoll.toml").write_text(SETTINGS)
    (host,) = store.samples.hosts(begun, time.time_ns())
    asked = ("--config", tmp_path / "plimsoll.toml", "--only", "operating-system", "--from", stamp(begun))
    outcome = plimsoll("review", f"live:{host}", *asked, "--json", "-", "--fail-on", "warning")
    assert outcome.status == 1, outcome.err
    crossed = {rule["rule"]: rule for rule in json.loads(outcome.out)["rules"] if rule["state"] == "crossed"}
    # More than one where this machine is busy with something else, too.
    assert all(breach["worst"] > 30 for breach in crossed["cpu-busy"]["breaches"])


def stamp(instant):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(instant // SECOND))
