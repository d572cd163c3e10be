"""Writers of InfluxDB 2 and 1 reach the write endpoint as they are."""

import subprocess
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from influxdb_client.client.influxdb_client import InfluxDBClient
from influxdb_client.client.write.point import Point
from influxdb_client.client.write_api import SYNCHRONOUS
from influxdb_client.rest import ApiException

from plimsoll.model.errors import Unusable
from plimsoll.model.points import Points
from plimsoll.serve.credentials import create_token
from plimsoll.store.duck.compaction import Keeping
from plimsoll.store.duck.samples import DuckSamples
from plimsoll.store.folders.runs import RunFolders
from plimsoll.store.protocol import WriteResult
from plimsoll.store.store import Store
from tests.serve.site import EVERYWHERE, site

TELEGRAF = """\
[agent]
  interval = "1s"
  flush_interval = "1s"
  hostname = "WEB1"
[[inputs.cpu]]
  percpu = false
[[inputs.mem]]
[[inputs.system]]
[[inputs.internal]]
"""
OUTPUTS = {
    "influxdb_v2": """\
[[outputs.influxdb_v2]]
  urls = ["{address}"]
  token = "{token}"
  organization = "plimsoll"
  bucket = "plimsoll"
""",
    "influxdb_v2 without gzip": """\
[[outputs.influxdb_v2]]
  urls = ["{address}"]
  token = "{token}"
  organization = "plimsoll"
  bucket = "plimsoll"
  content_encoding = "identity"
""",
    "influxdb": """\
[[outputs.influxdb]]
  urls = ["{address}"]
  database = "telegraf"
  username = "telegraf"
  password = "{token}"
""",
}


@pytest.fixture
def elsewhere(duckdb, tmp_path):
    """A server that is on all addresses, and its token."""
    with site(duckdb, tmp_path / "data", listen=EVERYWHERE) as result:
        yield result, create_token(result.folder)


@pytest.mark.parametrize("output", OUTPUTS)
def test_telegraf_writes_here_as_it_is(output, elsewhere, telegraf, tmp_path):
    here, token = elsewhere
    configuration = tmp_path / "telegraf.conf"
    configuration.write_text(TELEGRAF + OUTPUTS[output].format(address=here.address, token=token))
    process = subprocess.Popen(
        [telegraf, "--config", configuration], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    try:
        until = time.monotonic() + 300
        while here.writing.state.values < 100 and time.monotonic() < until:
            time.sleep(0.1)
    finally:
        process.terminate()
        _, result = process.communicate(timeout=300)
    assert "E!" not in result
    assert "W! [outputs" not in result
    rows = {(host, measurement, field) for host, measurement, _, field, _ in here.stored()}
    assert {("WEB1", "mem", "available"), ("WEB1", "system", "uptime"), ("WEB1", "cpu", "usage_idle")} <= rows
    assert ("WEB1", "system", "uptime_format") not in rows


def test_telegraf_keeps_what_is_not_stored_and_sends_it_again(telegraf, tmp_path):
    store: Any = Failing(tmp_path / "plimsoll.duckdb", 0, Keeping(30, 400, 1 << 40))
    with site(Store(store, RunFolders.open(tmp_path / "runs", make=True)), tmp_path / "data") as here:
        configuration = tmp_path / "telegraf.conf"
        output = OUTPUTS["influxdb_v2"].format(address=here.address, token="any")
        configuration.write_text(TELEGRAF + output)
        with subprocess.Popen([telegraf, "--quiet", "--config", configuration], stderr=subprocess.DEVNULL) as process:
            until = time.monotonic() + 300
            while len(store.refused) < 2 and time.monotonic() < until:
                time.sleep(0.1)
            store.is_full = False
            while not here.writing.state.values and time.monotonic() < until:
                time.sleep(0.1)
            process.terminate()
        missing = store.refused - {key[-1] for key in here.stored()}
    store.close()
    assert len(store.refused) >= 2
    assert missing == set()


class Failing(DuckSamples):
    """A store that is full at first."""

    is_full = True

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.refused = set()

    def write_points(self, points: Points) -> WriteResult:
        if self.is_full:
            self.refused.update(points.times.tolist())
            raise Unusable("the disk is full")
        return super().write_points(points)


def client(site_, token, **options):
    return InfluxDBClient(site_.address, token, org="o", **options)


def test_influxdb_client_writes_one_at_a_time(elsewhere):
    here, token = elsewhere
    when = datetime(2026, 11, 1, tzinfo=UTC)
    with client(here, token, enable_gzip=True) as influx:
        assert influx.ping()
        assert influx.version() == "v2.7.12"
        write = influx.write_api(write_options=SYNCHRONOUS)
        write.write("b", record=Point("cpu").tag("host", "a").field("v", 0.1).field("n", 2).time(when))
        write.write("b", record=[f"cpu,host=a v={n} {n * 10**9}" for n in range(3)])
        with pytest.raises(ApiException) as refused:
            write.write("b", record="cpu,host=a v=1 7\ncpu,host=a v=x 8\ncpu,host=a v=3 9")
    assert refused.value.status == 400
    assert "unable to parse 'cpu,host=a v=x 8': invalid boolean (line 2)" in str(refused.value.body)
    times = {time for *_, field, time in here.stored() if field == "v"}
    assert times == {0, 10**9, 2 * 10**9, 7, 9, int(when.timestamp()) * 10**9}


def test_tokens_as_influxdb_1_writers_send_them(elsewhere):
    here, token = elsewhere
    assert here.post(b"cpu,host=a v=1", f"/write?db=d&u=me&p={token}").status == 204
    assert here.post(b"cpu,host=a v=1", "/write?db=d", Authorization=f"Token me:{token}").status == 204
    assert here.post(b"cpu,host=a v=1", "/write?db=d", Authorization=f"Bearer {token}").status == 204
    assert here.post(b"cpu,host=a v=1", "/write?db=d&u=me&p=wrong").status == 401
    assert here.post(b"cpu,host=a v=1", "/write?db=d").status == 401


def test_a_database_is_created_for_influxdb_1_writers(here):
    for query in ('CREATE DATABASE "telegraf"', "create database x with duration 7d"):
        answer = here.request("POST", "/query", fields={"q": query}, encode_multipart=False)
        assert answer.json() == {"results": [{"statement_id": 0}]}
    assert here.request("GET", "/query?q=CREATE+DATABASE+x").json() == {"results": [{"statement_id": 0}]}
    other = here.request("GET", "/query?q=SELECT+1")
    assert other.status == 501
    assert other.json()["error"].startswith("not implemented")


def test_a_query_costs_no_more_than_its_length(here):
    """Each character was compared with each: 1,600 took half a minute, in which nothing else was answered or judged."""
    query = "CREATE DATABASE " + "a" * 1600 + " " * 1600 + ";x"
    answer = here.request("POST", "/query", fields={"q": query}, encode_multipart=False, timeout=300)
    assert answer.json()["error"].startswith("not implemented")


def test_what_is_answered_is_committed_and_told_to_the_next(duckdb, tmp_path):
    entries = []
    with site(duckdb, tmp_path / "data", on_written=lambda points: entries.append(points.values.tolist())) as here:
        assert here.post(b"cpu,host=a v=1 1\ncpu,host=a v=2 2").status == 204
        assert entries == [[1, 2]]
        assert list(here.stored().values()) == [1, 2]
