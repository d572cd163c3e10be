"""Checks: against servers of the test, processes of this computer, and a systemctl and a ping of the test."""

import datetime
import http.server
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from plimsoll.collect.checks import looking
from plimsoll.collect.checks.settings import CheckSettings
from plimsoll.collect.collector import Collector
from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.signal_finder import Finder
from plimsoll.up import settings as up_settings

AT = 1_800_000_000 * SECOND


def result(**options):
    """The measurement, the fields and the tags of the first reading that a check gives."""
    reading = next(iter(looking.Looking(CheckSettings(**options)).look()))
    return reading.measurement, reading.fields, dict(reading.tags)


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(500 if self.path == "/broken" else 200)
        self.end_headers()
        self.wfile.write(b"all is well")

    def log_message(self, format, *args):
        pass


@pytest.fixture
def page():
    """The port of a server of pages."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture
def nobody():
    """A port of this computer on which nobody listens."""
    with closing(socket.socket()) as item:
        item.bind(("127.0.0.1", 0))
        yield item.getsockname()[1]


@pytest.fixture
def silent():
    """A port that takes connections and never answers."""
    with closing(socket.socket()) as item:
        item.bind(("127.0.0.1", 0))
        item.listen()
        yield item.getsockname()[1]


def test_a_port_that_answers_and_one_that_does_not(page, nobody):
    name, values, tags = result(name="web", tcp=f"127.0.0.1:{page}")
    assert (name, values["result_code"]) == ("net_response", 0)
    assert 0 < values["response_time"] < 5
    assert tags == {"check": "web", "port": str(page), "protocol": "tcp", "server": "127.0.0.1"}
    assert result(tcp=f"127.0.0.1:{nobody}")[1] == {"result_code": 2}


@pytest.mark.parametrize(
    ("path", "requests", "code"),
    [
        ("/", {}, 0),
        ("/", {"contains": "well"}, 0),
        ("/", {"contains": "ill"}, 1),
        ("/broken", {}, 6),
        ("/broken", {"status": 500}, 0),
        ("/", {"status": 204}, 6),
    ],
)
def test_a_page_is_as_it_must_be_or_not(page, path, requests, code):
    name, values, tags = result(name="shop", http=f"http://127.0.0.1:{page}{path}", **requests)
    assert (name, values["result_code"]) == ("http_response", code)
    assert values["http_response_code"] == (500 if path == "/broken" else 200)
    assert tags["check"] == "shop"


def test_a_page_that_cannot_be_reached_or_keeps_silent(nobody, silent):
    assert result(http=f"http://127.0.0.1:{nobody}/")[1] == {"result_code": 3}
    assert result(http=f"http://127.0.0.1:{silent}/", timeout="1s")[1] == {"result_code": 4}
    assert result(http="http://no-such-host.invalid/")[1]["result_code"] in (3, 5)


def test_a_check_that_has_no_answer_by_the_next_look_is_a_failure(silent):
    collector = Collector(
        "WEB1",
        looking.group_checks([CheckSettings.model_validate({"http": f"http://127.0.0.1:{silent}/", "timeout": "9s"})]),
    )
    assert not collector.collect(AT).series
    late = collector.collect(AT + 10 * SECOND)
    assert [(series.field, value) for series, value in zip(late.series, late.values, strict=True)] == [
        ("result_code", 4)
    ]


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """A function: a server of pages with a certificate for 127.0.0.1 that is valid for some days. Port and certificate."""
    folder = tmp_path_factory.mktemp("tls")
    servers = []

    def serve(days):
        key, chain = folder / f"key{days}.pem", folder / f"cert{days}.pem"
        entries = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", chain]
        subprocess.run(
            [*entries, *f"-days {days} -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1".split()],
            check=True,
            capture_output=True,
        )
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server.server_port, chain

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def test_how_long_a_certificate_is_valid(certified):
    port, chain = certified(30)
    name, values, tags = result(name="cert", certificate=f"127.0.0.1:{port}", ca=chain)
    assert (name, values["verification_code"]) == ("x509_cert", 0)
    assert values["expiry"] == pytest.approx(datetime.timedelta(days=30).total_seconds(), abs=3600)
    assert tags == {"check": "cert", "source": f"tcp://127.0.0.1:{port}"}
    assert result(certificate=f"127.0.0.1:{port}")[1] == {"verification_code": 1}, "nobody trusts its issuer"


def test_a_page_with_tls_tells_its_certificate_too(certified):
    port, chain = certified(20)
    site = looking.Looking(CheckSettings(http=f"https://127.0.0.1:{port}/", ca=chain))
    readings = {item.measurement: item.fields for item in site.look()}
    assert readings["http_response"]["result_code"] == 0
    assert readings["x509_cert"]["expiry"] == pytest.approx(20 * 86400, abs=3600)


def test_a_certificate_where_none_is_to_be_had_is_not_valid(nobody, page):
    assert result(certificate=f"127.0.0.1:{nobody}")[1] == {"verification_code": 1}
    assert result(certificate=f"127.0.0.1:{page}")[1] == {"verification_code": 1}, "it speaks no TLS"


def test_a_process_that_runs_and_one_that_does_not():
    me = psutil.Process().name()
    name, values, tags = result(process=me.upper())
    assert name == "procstat_lookup"
    assert values["running"] >= 1
    assert tags["check"] == me.upper()
    assert result(process="no-such-program")[1]["running"] == 0


def program(folder, name, text):
    outcome = folder / name
    outcome.write_text(f"#!{sys.executable}\n{text}")
    outcome.chmod(0o755)


@pytest.mark.parametrize(
    ("load", "active", "code"),
    [("loaded", "active", 0), ("loaded", "failed", 3), ("loaded", "activating", 4), ("not-found", "inactive", 2)],
)
def test_a_unit_of_systemd(tmp_path, monkeypatch, load, active, code):
    program(
        tmp_path,
        "systemctl",
        f"import sys; assert sys.argv[1:] == ['show', '--property=LoadState,ActiveState', '--', 'nginx.service']\n"
        f"print('LoadState={load}\\nActiveState={active}')",
    )
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(sys, "platform", "linux")
    name, values, tags = result(service="nginx")
    assert (name, values["active_code"], tags["name"]) == ("systemd_units", code, "nginx.service")


def test_a_systemd_that_does_not_answer_is_said_once_and_is_no_state(tmp_path, monkeypatch, caplog):
    program(tmp_path, "systemctl", "import sys; sys.exit('System has not been booted with systemd')")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    collector = Collector("WEB1", looking.group_checks([CheckSettings(service="nginx")]))
    end = time.monotonic() + 300
    while not collector.failing:
        assert not collector.collect(AT).series
        assert time.monotonic() < end
        time.sleep(0.05)
    for _ in range(10):
        assert not collector.collect(AT).series
        time.sleep(0.05)
    assert caplog.text.count("System has not been booted") == 1
    assert "System has not been booted" in collector.failing["check nginx"], "plimsoll up says it"


@pytest.mark.parametrize(("status", "code"), [("running", 4), ("stopped", 1), ("paused", 7), (None, 1)])
def test_a_service_of_windows(monkeypatch, status, code):
    def get(name):
        if status is None:
            raise psutil.NoSuchProcess(0, name)
        return SimpleNamespace(status=lambda: status)

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(psutil, "win_service_get", get, raising=False)
    name, values, tags = result(name="SQL Server", service="MSSQLSERVER")
    assert (name, values, tags["service_name"]) == ("win_services", {"state": code}, "MSSQLSERVER")


@pytest.mark.parametrize(
    ("output", "status", "expected"),
    [
        ("64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.040 ms", 0, (0, 0.04)),
        ("Antwort von 10.0.0.1: Bytes=32 Zeit<1ms TTL=64", 0, (0, 1)),
        ("R\\xe9ponse de 10.0.0.1\\u00a0: octets=32 temps=3 ms TTL=64", 0, (0, 3)),
        ("Reply from 10.0.0.9: Destination host unreachable.", 0, (100, None)),
        ("1 packets transmitted, 0 received, 100% packet loss, time 0ms", 1, (100, None)),
    ],
)
def test_a_ping(tmp_path, monkeypatch, output, status, expected):
    program(tmp_path, "ping", f"import sys\nprint('{output}')\nsys.exit({status})")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    name, values, _ = result(ping="10.0.0.1")
    assert name == "ping"
    assert (values["percent_packet_loss"], values.get("average_response_ms")) == expected


def test_rules_judge_what_checks_give(page, nobody, certified):
    port, chain = certified(5)
    checks = [
        CheckSettings(tcp=f"127.0.0.1:{page}"),
        CheckSettings(tcp=f"127.0.0.1:{nobody}"),
        CheckSettings(http=f"https://127.0.0.1:{port}/", ca=chain),
        CheckSettings(process="no-such-program"),
    ]
    readings = [reading for check in checks for reading in looking.Looking(check).look()]
    series = Collector("WEB1", {"all": lambda: readings}).collect(AT).series
    finder = Finder(load_signals(), series, lambda item: True)
    judged = {
        rule.id for pack in load().packs if pack.pack == "checks" for rule in pack.rules if finder.find(rule.signal)
    }
    assert judged >= {"check-no-connection", "check-http-failed", "check-certificate-ends", "check-process-missing"}
    assert {subject.instance for subject, _ in finder.find("check.connection").values()} == {
        f"127.0.0.1:{page}",
        f"127.0.0.1:{nobody}",
    }


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ('[[check]]\nservice = "a"\nprocess = "b"', "exactly one of"),
        ("[[check]]\nname = 'a'", "exactly one of"),
        ('[[check]]\ntcp = "db.example.org"', "write it like db.example.org:5432"),
        ('[[check]]\nhttp = "example.org"', "is not an http:// or https:// address"),
        ('[[check]]\nhttp = "https://me:secret@example.org/"', "without a password"),
        ('[[check]]\nping = "-f"', "is not a name or an address"),
        ('[[check]]\nservice = "--all"', "is not the name of a service"),
        ('[[check]]\ntcp = "a:1"\ntimeout = "30s"', "timeout is 1s to 9s"),
        ('[[check]]\ntcp = "a:1"\nstatus = 200', "are for http"),
        ('[[check]]\ntcp = "a:1"\n[[check]]\ntcp = "a:1"', 'two checks are named "a:1"'),
        ('[[check]]\nhtp = "a:1"', 'did you mean "http"'),
    ],
)
def test_settings_that_are_wrong_are_named(text, output):
    with pytest.raises(Unusable, match="check") as refused:
        up_settings.parse(text.encode(), Path("up.toml"))
    assert output in str(refused.value)
    assert "secret" not in str(refused.value)
