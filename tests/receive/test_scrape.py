"""`plimsoll up` asks exporters for their metrics."""

import gzip
import logging
from collections.abc import Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND
from plimsoll.receive.exporters.scrape import Scraper
from plimsoll.receive.exporters.translate import Translator
from plimsoll.receive.line_protocol.parse import Parser
from plimsoll.receive.write_queue import WriteQueue
from plimsoll.rules.load import load
from plimsoll.up.settings import parse
from tests.serve.site import wait_until

NOW = 1_790_000_000 * SECOND


class Exporter:
    """Something that answers: its status and its text, and the headers of the last request."""

    def __init__(self, port):
        self.status = 200
        self.text = b"node_load1 1\n"
        self.packed = False
        self.requests: Mapping[str, str] = {}
        self.count = 0
        self.port = port


@contextmanager
def answering():
    exporters: list[Exporter] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            item = exporters[0]
            item.requests = dict(self.headers.items())
            body = gzip.compress(item.text) if item.packed else item.text
            self.send_response(item.status)
            self.send_header("Content-Length", str(len(body)))
            if item.packed:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(body)
            item.count += 1

        def log_message(self, format: str, *args: Any):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        exporters.append(Exporter(server.server_address[1]))
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield exporters[0]
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def exporter():
    with answering() as result:
        yield result


def settings(tmp_path, text):
    return parse(text.encode(), tmp_path / "up.toml")


@contextmanager
def scraping(store, targets):
    writing = WriteQueue(store.live)
    scraper = Scraper(targets, writing, Translator(load().signals), Parser(), lambda: NOW)
    try:
        yield scraper, writing
    finally:
        scraper.stop()
        writing.close()


def stored(store):
    ever = (0, 2**62)
    result = store.live.series(*ever).series
    return {
        (series.host, series.field, time // SECOND - NOW // SECOND): value
        for series, samples in zip(result, store.live.read(result, *ever), strict=True)
        for time, value in zip(samples.times.tolist(), samples.values.tolist(), strict=True)
    }


def test_each_target_is_asked_at_multiples_of_its_interval(duckdb, tmp_path, exporter):
    result = settings(
        tmp_path,
        f'[[scrape]]\ntargets = ["127.0.0.1:{exporter.port}"]\nlabels = {{host = "app01"}}\ninterval = "30s"\n',
    )
    with scraping(duckdb, result.targets) as (scraper, writing):
        assert scraper.hosts == ("app01",)
        for at, count in ((5, 0), (10, 1), (20, 1), (30, 1), (40, 2)):  # NOW is 10 s before a multiple of 30 s
            before = writing.state.values

            def is_asked(at=at, count=count):
                if exporter.count < count:  # what was asked before is stored shortly before it has ended
                    scraper.step(NOW + at * SECOND)
                return exporter.count == count

            scraper.step(NOW + at * SECOND)
            wait_until(is_asked)
            if at in (10, 40):
                wait_until(lambda before=before: writing.state.values > before)
    assert stored(duckdb) == {("app01", "load1", 10): 1, ("app01", "load1", 40): 1}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"status": 503}, "it answers with status 503"),
        ({"text": b"<html>hello</html>"}, "line 1 is no metric of Prometheus"),
        ({"text": b"# nothing\n"}, "it has no metrics"),
        ({"text": b"go_goroutines 1\n"}, "none of the metrics that are judged"),
        ({"text": b"node_load1 1\n" * 3_000_000, "packed": True}, "more than 32 MB"),
    ],
)
def test_a_target_that_fails_is_told_and_the_others_go_on(change, why, duckdb, tmp_path, exporter, caplog):
    result = settings(tmp_path, f'[[scrape]]\ntargets = ["localhost:{exporter.port}", "127.0.0.1:1"]\n')
    with answering() as other, scraping(duckdb, result.targets) as (scraper, writing):
        scraper.use([*result.targets, *settings(tmp_path, f'[[scrape]]\ntargets = ["127.0.0.1:{other.port}"]').targets])
        vars(exporter).update(change)
        with caplog.at_level(logging.WARNING):
            scraper.step(NOW)
            wait_until(lambda: len(scraper.problems(NOW)) == 2 and writing.state.values == 1)
        first, second = scraper.problems(NOW + 200 * SECOND)
        assert first.startswith(f"http://localhost:{exporter.port}/metrics gives no metrics for 3 min: ")
        assert why in first
        assert "127.0.0.1:1" in second
        assert "Traceback" not in caplog.text
        vars(exporter).update({"status": 200, "text": b"node_load1 2\n", "packed": True})
        scraper.step(NOW + 10 * SECOND)
        wait_until(lambda: len(scraper.problems(NOW)) == 1 and "gives metrics again" in caplog.text)


def test_secrets_are_sent_and_not_shown(duckdb, tmp_path, exporter):
    result = settings(
        tmp_path, f'[[scrape]]\ntargets = ["127.0.0.1:{exporter.port}"]\nuser = "u"\npassword = "secret"\n'
    )
    assert "secret" in result.addresses
    assert "secret" not in repr(result)
    assert "dTpz" not in repr(result.targets)
    with scraping(duckdb, result.targets) as (scraper, writing):
        scraper.step(NOW)
        wait_until(lambda: writing.state.values)
    assert exporter.requests["Authorization"] == "Basic dTpzZWNyZXQ="
    assert "version=0.0.4" in exporter.requests["Accept"]


@pytest.mark.parametrize(
    ("label", "host"), [("nodename", "app07"), ("missing", "127.0.0.1")], ids=["in a metric", "in none"]
)
def test_the_host_is_the_one_that_a_label_names(label, host, duckdb, tmp_path, exporter):
    exporter.text = b'node_load1 1\nnode_uname_info{machine="x",nodename="app07"} 1\n'
    result = settings(tmp_path, f'[[scrape]]\ntargets = ["127.0.0.1:{exporter.port}"]\nhost_label = "{label}"\n')
    assert result.expected == ()
    with scraping(duckdb, result.targets) as (scraper, writing):
        scraper.step(NOW)
        wait_until(lambda: writing.state.values)
    assert set(stored(duckdb)) == {(host, "load1", 0)}


def test_hosts_that_are_asked_are_expected(tmp_path):
    result = settings(tmp_path, '[roster]\nhosts = ["web1"]\n[[scrape]]\ntargets = ["web1:9100", "https://[::1]/m"]\n')
    assert result.expected == ("web1", "::1")
    assert [target.url for target in result.targets] == ["http://web1:9100/metrics", "https://[::1]/m"]


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("targets = []", "at least 1 item"),
        ('targets = ["ftp://a"]', "write it like app01:9100"),
        ('targets = ["user:pw@a:1"]', "write it like app01:9100"),
        ('targets = ["a:x"]', "write it like app01:9100"),
        ('targets = ["a"]\ninterval = "15s"', "is no multiple of 10s"),
        ('targets = ["a", "b"]\nlabels = {host = "c"}', "names one host"),
        ('targets = ["a"]\ntoken = "t"\npassword = "p"', "takes one of them"),
        ('targets = ["a"]\nintervall = "10s"', 'did you mean "interval"'),
    ],
)
def test_wrong_settings_are_refused(written, why, tmp_path):
    with pytest.raises(Unusable) as refused:
        settings(tmp_path, f"[[scrape]]\n{written}\n")
    assert why in str(refused.value)
