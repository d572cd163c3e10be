"""The store in a real VictoriaMetrics; test_contract.py has the behaviour that all stores share."""

import http.server
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
import urllib3

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.receive.line_protocol.parse import Parser
from plimsoll.rules.load import load
from plimsoll.store.victoriametrics import samples as live_samples
from plimsoll.store.victoriametrics.address import VictoriaMetricsAddress
from plimsoll.store.victoriametrics.names import Measurements, make_metric_name
from plimsoll.store.victoriametrics.samples import VictoriaSamples
from plimsoll.store.victoriametrics.server import VictoriaMetricsServer
from tests.conftest import VictoriaMetrics
from tests.store.test_contract import EVER, START, cpu, points

HOUR = 3600 * SECOND


def samples_of(address, *, read_s=1.0, write_s=1.0, token="", **options):
    server = VictoriaMetricsServer(
        VictoriaMetricsAddress.parse(f"victoriametrics://{address}", token), read_s=read_s, write_s=write_s
    )
    return VictoriaSamples(server, Measurements(), **options)


@pytest.fixture
def mortal(tmp_path):
    """A VictoriaMetrics that a test may kill."""
    with VictoriaMetrics(tmp_path) as result:
        yield result


@pytest.mark.parametrize(
    ("text", "write", "read"),
    [
        ("victoriametrics://vm:8428", "http://vm:8428/influx", "http://vm:8428/prometheus"),
        ("victoriametrics+https://vm/", "https://vm/influx", "https://vm/prometheus"),
        (
            "victoriametrics://auth:8427/insert/0/influx,/select/0",
            "http://auth:8427/insert/0/influx",
            "http://auth:8427/select/0/prometheus",
        ),
        (
            "victoriametrics://vminsert:8480/insert/7, vmselect:8481/select/7/prometheus",
            "http://vminsert:8480/insert/7/influx",
            "http://vmselect:8481/select/7/prometheus",
        ),
        ("victoriametrics://vmagent:8429,vm-1:8428", "http://vmagent:8429/influx", "http://vm-1:8428/prometheus"),
    ],
)
def test_an_address_says_where_to_write_and_where_to_read(text, write, read):
    victoria_metrics_address = VictoriaMetricsAddress.parse(text)
    assert (victoria_metrics_address.write, victoria_metrics_address.read) == (write, read)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("victoriametrics://", "is not an address"),
        ("victoriametrics://vm:port", "is not an address"),
        ("victoriametrics://vm:8428,", "is not an address"),
        ("victoriametrics://auth:8427/insert/0/influx", "name both"),
        ("victoriametrics://u:secret@vm:8428", "must hold no password"),
    ],
)
def test_what_is_no_address_is_refused_and_no_password_is_shown(text, why):
    with pytest.raises(Unusable, match=why) as raised:
        VictoriaMetricsAddress.parse(text)
    assert "secret" not in str(raised.value)


def test_every_source_of_a_signal_is_known_by_its_metric():
    """If its measurement were split wrongly, a signal would not be found, and its limits not judged."""
    signals = load().signals.values()
    measurements = Measurements(
        lambda: {source.measurement for signal in signals for source in signal.sources if source.measurement}
    )
    sources = [source for signal in signals for source in signal.sources if source.measurement]
    assert len(sources) > 100
    for source in sources:
        for field in source.fields:
            series = Series("h", source.measurement or "", (), field)
            assert measurements.split(make_metric_name(series)) == (source.measurement, field)


def test_what_agents_write_has_the_names_they_gave(live, own_victoriametrics):
    lines = r"win_cpu,host=WEB7,instance=\\??\\D:,objectname=Processor Percent_User_Time=3.5 1700000000000000000"
    text = "cpu_util,host=web8 pct_idle=7i 1700000000000000000"
    for path, line in (("/api/v2/write?org=o&bucket=b&precision=ns", lines), ("/write?precision=ns", text)):
        assert urllib3.request("POST", own_victoriametrics.url + path, body=line.encode()).status == 204
    own_victoriametrics.show()
    live._measurements = Measurements(lambda: ["cpu_util"])
    first, second = live.series(START, START).series
    assert (first.host, first.measurement, first.field) == ("WEB7", "win_cpu", "Percent_User_Time")
    assert dict(first.tags) == {"instance": r"\??\D:", "objectname": "Processor"}
    assert (second.measurement, second.field, second.tags) == ("cpu_util", "pct_idle", ())
    assert [item.values.tolist() for item in live.read([first, second], *EVER)] == [[3.5], [7]]


def test_of_a_body_with_a_bad_line_the_good_ones_are_kept(live, own_victoriametrics):
    """VictoriaMetrics itself would reject all lines of the body."""
    body = b"win_cpu,host=a f=1 %d\nwin_cpu,host=a f=1 1x\nwin_cpu,host=b f=2 %d" % (START, START)
    assert urllib3.request("POST", own_victoriametrics.url + "/write?precision=ns", body=body).status == 400
    own_victoriametrics.show()
    assert live.series(*EVER).series == []
    parsed = Parser().parse(body, now=START)
    assert [number for number, _, _ in parsed.malformed.first] == [2]
    live.write_points(parsed.points)
    assert sorted(series.host for series in live.series(*EVER).series) == ["a", "b"]


def test_a_long_range_is_listed_by_its_days(live):
    live.write_points(points((cpu(), 0, 1.0), (cpu("DB1"), -40 * 86_400, 1.0)))
    series = live.series(START - 20 * 24 * HOUR, START)
    assert series.series == [cpu()]
    assert live.hosts(START - 20 * 24 * HOUR, START) == ["WEB1"]
    assert live.hosts(*EVER) == ["WEB1"]


def wave(series, count, item=10):
    """Samples of some series, `every` so many seconds, that go up and down; none is like another."""
    which = np.repeat(np.arange(len(series), dtype=np.int32), count)
    times = np.tile(START + np.arange(count, dtype=np.int64) * item * SECOND, len(series))
    values = np.round(50 + 40 * np.sin(np.arange(len(which)) / 7.0), 3) + np.arange(len(which)) / 1e6
    return Points(series, which, times, values)


def test_what_the_server_reduces_is_what_its_samples_give(live, monkeypatch):
    result = [cpu(instance="0"), cpu(instance="1"), cpu("DB1")]
    live.write_points(wave(result, 500))
    entries = [*result, cpu("DB9")]
    # The range begins and ends within a bucket.
    span = START + 7 * SECOND, START + 4711 * SECOND
    exact = live.buckets(entries, *span, 60 * SECOND), live.drawn(entries, *span, 40)
    monkeypatch.setattr(live_samples, "_READ_ALL", 0)
    buckets, drawn = live.buckets(entries, *span, 60 * SECOND), live.drawn(entries, *span, 40)
    for was, now in zip(exact[0], buckets, strict=True):
        assert now.times.tolist() == was.times.tolist()
        assert now.minimum.tolist() == was.minimum.tolist()
        assert now.maximum.tolist() == was.maximum.tolist()
        assert now.mean.tolist() == pytest.approx(was.mean.tolist())
    for was, now in zip(exact[1], drawn, strict=True):
        assert now.samples.times.tolist() == was.samples.times.tolist()
        assert now.samples.values.tolist() == was.samples.values.tolist()
        assert now.count == was.count


def test_of_two_values_at_one_time_the_higher_one_stays(live):
    live.write_points(points((cpu(), 0, 5.0)))
    live.write_points(points((cpu(), 0, 3.0)))
    assert live.read([cpu()], *EVER)[0].values.tolist() == [5.0]


def test_a_killed_server_loses_nothing_that_it_acknowledged(mortal):
    live = samples_of(mortal.address, write_s=10)
    live.write_points(points((cpu(), -10, 0.5)))
    for at in range(5):
        live.write_points(points((cpu(), at, float(at)), (cpu("DB1"), at, 1.0)))
    time.sleep(1.1)  # it says to the second when it began
    mortal.end(kill=True)  # well within the 5 s in which it keeps samples in memory
    mortal.start()
    live.write_points(points((cpu(), 5, 5.0)))
    mortal.show()
    assert [len(item.times) for item in live.read([cpu(), cpu("DB1")], *EVER)] == [7, 5]
    live.close()


def test_a_server_that_is_away_is_said_and_found_again(mortal):
    live = samples_of(mortal.address)
    live.write_points(points((cpu(), 0, 1.0)))
    mortal.show()
    mortal.end()
    for call in (
        lambda: live.write_points(points((cpu(), 1, 1.0))),
        lambda: live.read([cpu()], *EVER),
        lambda: live.series(START, START),
        lambda: live.hosts(*EVER),
    ):
        with pytest.raises(Unreachable, match=r"does not answer .*; is VictoriaMetrics running there"):
            call()
    mortal.start()
    assert live.read([cpu()], *EVER)[0].values.tolist() == [1.0]
    live.close()


def test_nothing_at_all_is_no_answer_where_something_was_acknowledged(own_victoriametrics):
    """A server that lost its disk, or another server at its address, must not make hosts look silent."""
    own_victoriametrics.forget()
    clock = [1000.0]
    live = samples_of(own_victoriametrics.address, clock=lambda: clock[0])
    live.write_points(points((cpu(), 0, 1.0)))
    own_victoriametrics.show()
    clock[0] += 60
    assert live.series(START + HOUR, START + 2 * HOUR).series == []
    assert len(live.read([cpu("DB9")], *EVER)[0].times) == 0
    own_victoriametrics.forget()
    for call in (lambda: live.series(START, START + HOUR), lambda: live.read([cpu()], *EVER)):
        with pytest.raises(Unreachable, match="not even what it acknowledged 1 min ago"):
            call()
    live.close()


@contextmanager
def answering(body, content_type="application/json", status=200):
    """A server that answers every call with the same."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST  # noqa: N815

        def log_message(self, format, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


PARTIAL = b'{"status":"success","isPartial":true,"data":{"resultType":"vector","result":[]}}'
CUT = b'{"metric":{"__name__":"cpu_usage_idle","host":"a"},"values":[1,2],"timest\n'
UNEVEN = b'{"metric":{"__name__":"cpu_usage_idle","host":"a"},"values":[1,2],"timestamps":[1]}\n'
STREAM = "application/stream+json; charset=utf-8"


@pytest.mark.parametrize(
    ("answer", "call", "error", "why"),
    [
        ((PARTIAL,), "series", Unreachable, "one of its nodes does not answer"),
        ((b"<html></html>", "text/html"), "series", Unusable, "does not answer as VictoriaMetrics does"),
        ((b"", "text/html"), "read", Unusable, "does not answer as VictoriaMetrics does"),
        ((CUT, STREAM), "read", Unusable, "is no series"),
        ((UNEVEN, STREAM), "read", Unusable, "more times than values"),
        ((b"missing", "text/plain", 401), "read", Unusable, "VICTORIAMETRICS_TOKEN"),
        ((b"no such path", "text/plain", 404), "read", Unusable, "has no such path"),
        ((b'{"status":"error","error":"too many series"}', STREAM, 422), "read", Unusable, "too many series"),
        ((b"partial response", "text/plain", 503), "series", Unreachable, "answers 503"),
    ],
)
def test_an_answer_that_is_not_whole_is_none(answer, call, error, why):
    with answering(*answer) as address:
        live = samples_of(address, read_s=0.1)
        with pytest.raises(error, match=why):
            live.series(START - HOUR, START) if call == "series" else live.read([cpu()], *EVER)
        live.close()
