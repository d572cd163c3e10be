"""Features of InfluxDB alone: types, retention, tokens, and a server that is busy or unreachable."""

import http.server
import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.log import Log
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.store.influx.address import InfluxAddress
from plimsoll.store.influx.runs import InfluxRuns
from plimsoll.store.influx.samples import InfluxSamples
from plimsoll.store.influx.server import InfluxServer

EVER = (0, 2**62)
START = 1_700_000_000 * SECOND


def test_whole_numbers_of_a_live_agent_are_read_and_text_is_counted(influx):
    influx.post(b'kernel,host=web1 context_switches=15001i,note="x",up=true,load=1 1000\n')
    store = InfluxSamples(influx)
    series = store.series(*EVER)
    assert [(item.measurement, item.field) for item in series.series] == [
        ("kernel", "context_switches"),
        ("kernel", "load"),
    ]
    assert series.text == 2
    assert [item.values.tolist() for item in store.read(series.series, *EVER)] == [[15001], [1]]


def test_points_of_another_type_are_refused_and_counted(influx):
    assert influx.post(b"kernel,host=a x=1i 1000\n") == (0, "")
    refused, why = influx.post(b"kernel,host=a x=2.5 2000\nkernel,host=a x=3.5 3000\nother,host=a x=1 1000\n")
    assert refused == 2
    assert "type" in why
    (series,) = InfluxSamples(influx).series(*EVER, ["a"]).series[1:]
    assert series == Series("a", "other", (), "x")


def test_retention_is_told(bucket):
    kept = bucket.fresh(retention_s=7 * 86400)
    server = InfluxServer(InfluxAddress(kept.url, kept.org, kept.bucket, kept.token))
    assert server.retention() == 7 * 86400 * 10**9
    oldest = server.oldest()
    assert oldest is not None
    assert abs(time.time_ns() - 7 * 86400 * 10**9 - oldest) < 60 * 10**9
    assert InfluxServer(InfluxAddress(bucket.url, bucket.org, bucket.bucket, bucket.token)).oldest() is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"token": "wrong"}, "INFLUX_TOKEN"),
        ({"bucket": "nowhere"}, 'bucket "nowhere"'),
        ({"org": "nobody"}, "nobody"),
    ],
)
def test_a_wrong_address_is_told_in_a_line(bucket, change, says):
    fields = {"url": bucket.url, "org": bucket.org, "bucket": bucket.bucket, "token": bucket.token, **change}
    with pytest.raises(Unusable, match=says) as refused:
        InfluxServer(InfluxAddress(**fields), retry_s=1).post(b"m,host=a x=1 1000\n")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("url", ["127.0.0.1:8086", "http://", "ftp://127.0.0.1", "http://[::1"])
def test_what_is_no_address_is_said_to_be_none(url):
    with pytest.raises(Unusable, match="write it like"):
        InfluxServer(InfluxAddress(url, "o", "b", "t"))


def test_a_server_that_is_away_is_waited_for_and_then_given_up():
    entries = []
    server = InfluxServer(InfluxAddress("http://127.0.0.1:1", "o", "b", "t"), retry_s=1, waiting=entries.append)
    with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:1: does not answer"):
        server.post(b"m,host=a x=1 1000\n")
    (begun,) = entries
    assert "trying again for " in begun


class Busy(http.server.BaseHTTPRequestHandler):
    """Answers with each status of a list in turn, and then that all is well; none before all of a `together` ask."""

    answers: list[tuple[int, dict[str, str]]]
    received: list[tuple[str | None, bytes]]
    together: threading.Barrier | None = None

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.together:
            self.together.wait(300)
        self.received.append((self.headers["Content-Encoding"], body))
        status, headers = self.answers.pop(0) if self.answers else (204, {})
        text = b"" if status == 204 else json.dumps({"code": "x", "message": f"says {status}"}).encode()
        text = headers["X-Body"].encode() if "X-Body" in headers else text
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format, *args):
        pass


@pytest.fixture
def busy():
    """A server that is busy: how it answers, what it saw, and the way to it."""
    handler = type("Handler", (Busy,), {"answers": [], "received": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        yield handler, InfluxServer(InfluxAddress(url, "o", "b", "t"), retry_s=20)
        server.shutdown()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(busy, status):
    handler, server = busy
    handler.answers[:] = [(status, {}), (status, {})]
    assert server.post(b"m x=1 1\n") == (0, "")
    assert [body for _, body in handler.received] == [b"m x=1 1\n"] * 3


def test_an_outage_is_told_once_however_many_wait_for_its_end(busy):
    handler, server = busy
    entries = []
    server = InfluxServer(server.address, retry_s=300, waiting=entries.append)
    handler.together = threading.Barrier(3)
    for status in (503, 429):
        handler.answers[:] = [(status, {})] * 6
        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(server.post, [b"m x=1 1\n"] * 3)) == [(0, "")] * 3
    first, back, second, back_again = entries
    assert re.search(r"answers 503 \(says 503\): trying again for (5 min|4 min \d+ s)", first)
    assert "answers 429" in second
    assert back == back_again == f"{server.url} answers again: going on"


def test_a_call_that_is_refused_after_an_outage_does_not_go_on(busy):
    handler, server = busy
    entries = []
    server = InfluxServer(server.address, retry_s=20, waiting=entries.append)
    handler.answers[:] = [(503, {}), (401, {})]
    with pytest.raises(Unusable, match="INFLUX_TOKEN"):
        server.post(b"m x=1 1\n")
    assert len(entries) == 1


def test_tls_where_there_is_none_is_told_at_once(busy):
    _, server = busy
    port = server.url.rpartition(":")[2]
    with pytest.raises(Unusable, match=f"does not speak TLS there; write http://127.0.0.1:{port}$"):
        InfluxServer(InfluxAddress(f"https://127.0.0.1:{port}", "o", "b", "t")).post(b"m x=1 1\n")


def test_no_tls_where_there_is_nothing_else_is_told_at_once(busy):
    handler, server = busy
    handler.answers[:] = [(400, {"X-Body": "Client sent an HTTP request to an HTTPS server."})]
    with pytest.raises(Unusable, match=f"write https:{server.url.removeprefix('http:')}$"):
        server.post(b"m x=1 1\n")


def test_what_is_too_large_is_sent_in_halves(busy):
    handler, server = busy
    handler.answers[:] = [(413, {})]
    lines = b"m x=1 1\nm x=1 2\nm x=1 3\n"
    assert server.post(lines) == (0, "")
    assert b"".join(body for _, body in handler.received[1:]) == lines


def test_who_interrupts_does_not_wait_for_a_server_that_is_away(busy):
    handler, server = busy
    handler.answers[:] = [(503, {"Retry-After": "30"})] * 5
    threading.Timer(0.3, server.give_up).start()
    with pytest.raises(Unreachable):
        server.post(b"m x=1 1\n")
    assert len(handler.received) <= 1


def test_a_run_is_read_in_its_own_spelling_of_the_host(influx):
    for host, value in (("WEB1", 1.5), ("web1", 3.5)):
        influx.post(f"m,host={host} x={value} {START}\n".encode())
    for host, value in (("WEB1", 1.5), ("web1", 3.5)):
        (samples,) = InfluxSamples(influx).read([Series(host, "m", (), "x")], *EVER)
        assert samples.values.tolist() == [value]


def run_of(*series):
    times = START + np.arange(2, dtype=np.int64) * 10 * SECOND
    columns = tuple(np.array([1.5, 2.5]) for _ in series)
    log = Log(Path("a.csv"), "PDH-CSV", times, columns, series, Zone.parse("UTC"), sha256="ab")
    return log, StoredRun(Run("night"), (Recording.of(log, "ab"),))


def test_values_of_another_type_and_a_counter_called_time_are_refused(influx):
    influx.post(f"m,host=a x=1i {START}\n".encode())
    runs = InfluxRuns(influx)
    for field in ("x", "time"):
        log, run = run_of(Series("a", "m", (), field))
        saved = runs.save(run)
        (written,) = runs.write(saved, [log])
        assert written.refused
        assert len(runs.samples(saved).read(log.series, *EVER)[0].times) == 0
        runs.forget(saved)
    assert InfluxSamples(influx).read([Series("a", "m", (), "x")], *EVER)[0].values.tolist() == [1]


def test_samples_of_a_run_that_an_earlier_version_loaded_are_read_and_stay(influx):
    """They are among the live samples, without a generation tag."""
    runs = InfluxRuns(influx)
    log, run = run_of(Series("a", "m", (), "x"))
    saved = runs.save(run)
    influx.post(f"m,host=a x=1.5 {START}\nm,host=a x=2.5 {START + 10 * SECOND}\n".encode())
    assert runs.samples(saved).read(log.series, *EVER)[0].values.tolist() == [1.5, 2.5]
    runs.forget(saved)
    assert runs.summaries() == []
    assert InfluxSamples(influx).read(log.series, *EVER)[0].values.tolist() == [1.5, 2.5]


@pytest.mark.parametrize("body", [b"<html>hello</html>", b"[]", b"{}", b'{"results": [{"series"', b""])
def test_a_server_that_is_no_influxdb_is_told(busy, body):
    handler, server = busy
    handler.answers[:] = [(200, {"X-Body": body.decode()})] * 9
    with pytest.raises(Unusable, match="does not answer as InfluxDB does"):
        InfluxRuns(server).summaries()
