"""The LDAP probe, against a real OpenLDAP server and against servers that misbehave."""

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

PROBE = Path(__file__).parents[2] / "telegraf" / "ldap_probe.py"
STEPS = ("open_ms", "bind_ms", "search_ms", "unbind_ms")
SUMS = ("connect_ms", "processing_ms", "response_ms")
SECRET = "Darsser-Ort-33"


class Prober:
    """A running probe, spoken to as Telegraf's execd does."""

    def __init__(self, parse, environment: dict[str, str]):
        self._parse = parse
        self._process = subprocess.Popen(
            [sys.executable, str(PROBE)],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self):
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._parse(self._process.stdout.readline().rstrip("\n"))

    def end(self):
        """Its input ends, and so must it; what it said on standard error."""
        rest, result = self._process.communicate(timeout=300)
        assert (rest, self._process.returncode) == ("", 0)
        return result.splitlines()

    def kill(self):
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def probe(point):
    started = []

    def start(url, **environment):
        started.append(Prober(point, {"LDAP_URL": url, **environment}))
        return started[-1]

    yield start
    for item in started:
        item.kill()


@contextmanager
def server(answer):
    """Something on a port that does with each connection what `answer` says; gives the port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                threading.Thread(target=talk, args=(connection,), daemon=True).start()

        def talk(connection):
            with connection, suppress(OSError):  # the probe hung up
                answer(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"ldap://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def success(request, operation):
    """An LDAP result of 0: to message request[4], of an operation's tag."""
    return bytes([0x30, 12, 2, 1, request[4], operation, 7, 10, 1, 0, 4, 0, 4, 0])


def test_each_step_is_timed(probe, slapd):
    prober = probe(slapd.url, LDAP_BIND_DN=slapd.admin, LDAP_BIND_PASSWORD=slapd.password)
    before = time.time_ns()
    points = [prober.ask() for _ in range(5)]
    assert prober.end() == []
    for point in points:
        assert point.measurement == "ldap_probe"
        assert point.tags == {"server": "127.0.0.1", "port": str(slapd.port)}
        assert set(point.fields) == {*STEPS, *SUMS, "entries", "success", "result_code"}
        assert (point.fields["success"], point.fields["result_code"], point.fields["entries"]) == (1, 0, 1)
        assert all(point.fields[name] > 0 for name in (*STEPS, *SUMS))
    times = [before, *(point.time for point in points), time.time_ns()]
    assert times == sorted(times)


def test_latencies_are_those_of_the_study(probe):
    """Connect is opening and binding, processing is the search, response is the total."""

    def answer(connection):
        request = connection.recv(4096)
        time.sleep(0.6)
        connection.sendall(success(request, 0x61))
        request = connection.recv(4096)
        time.sleep(1.2)
        connection.sendall(success(request, 0x65))

    with server(answer) as url:
        prober = probe(url)
        prober.ask()  # its answer waits for Python to start, too
        begun = time.monotonic()
        fields = prober.ask().fields
        taken_ms = (time.monotonic() - begun) * 1000
    assert fields["bind_ms"] >= 600
    assert fields["search_ms"] >= 1200
    assert fields["open_ms"] + fields["bind_ms"] + fields["search_ms"] + fields["unbind_ms"] <= taken_ms
    assert fields["connect_ms"] == pytest.approx(fields["open_ms"] + fields["bind_ms"], abs=1e-5)
    assert fields["processing_ms"] == fields["search_ms"]
    assert fields["response_ms"] == pytest.approx(sum(fields[name] for name in STEPS), abs=1e-5)


def test_searches_the_entry_that_is_asked_for(probe, slapd):
    fields = {"LDAP_BASE": slapd.suffix, "LDAP_FILTER": "(uid=probe)"}
    assert probe(slapd.url, **fields).ask().fields["entries"] == 1
    assert probe(slapd.url, LDAP_BASE=slapd.suffix).ask().fields["entries"] == 3
    assert probe(slapd.url, LDAP_BASE=slapd.suffix, LDAP_FILTER="(uid=nobody)").ask().fields["entries"] == 0


def failed(point):
    assert set(point.fields) == {"failed", "success", "result_code"}, "a probe that failed has no times"
    assert point.fields["success"] == 0
    return point.fields["failed"], point.fields["result_code"]


def test_a_wrong_password_is_told_and_not_leaked(probe, slapd):
    prober = probe(slapd.url, LDAP_BIND_DN=slapd.admin, LDAP_BIND_PASSWORD=SECRET)
    point = prober.ask()
    assert failed(point) == ("bind", 49)
    result = prober.end()
    assert result == [f"E! LDAP probe of 127.0.0.1:{slapd.port} failed at bind: invalidCredentials (49)"]
    assert SECRET not in f"{point}{result}"


def test_survives_a_restart_of_the_server(probe, slapd):
    prober = probe(slapd.url)
    assert prober.ask().fields["success"] == 1
    slapd.stop()
    assert failed(prober.ask()) == ("open", -1)
    slapd.start()
    assert prober.ask().fields["success"] == 1
    assert len(prober.end()) == 1


def silent(connection):
    while connection.recv(4096):
        pass


def dripping(connection):
    """The beginning of an answer of 1 GB, byte for byte: no wait is long, the whole would be."""
    connection.recv(4096)
    for byte in b"\x30\x84\x40" + b"\0" * 1000:
        connection.sendall(bytes([byte]))
        time.sleep(0.1)


@pytest.mark.parametrize("answer", [silent, dripping])
def test_never_takes_longer_than_its_time_out(probe, answer):
    with server(answer) as url:
        # ldap3 counts whole seconds, and so is not the first to give up.
        prober = probe(url, LDAP_TIMEOUT="1.5")
        prober.ask()  # its answer waits for Python to start, too
        for _ in range(2):
            before = time.monotonic()
            point = prober.ask()
            assert 1.4 < time.monotonic() - before < 60  # of 100, in which all of the dripping answer comes
            assert failed(point) == ("bind", -5)
        result = prober.end()
    assert len(result) == 3
    assert "failed at bind: no answer within 1.5 s" in result[0]


@pytest.mark.parametrize("tls", ["ldaps", "starttls"])
def test_tls_is_part_of_opening_and_is_verified(probe, slapd, tls):
    url = f"ldaps://localhost:{slapd.tls_port}" if tls == "ldaps" else f"ldap://localhost:{slapd.port}"
    settings = {"LDAP_STARTTLS": "1"} if tls == "starttls" else {}
    result = probe(url, LDAP_TLS_CA=slapd.certificate, **settings)
    assert result.ask().fields["success"] == 1
    assert result.end() == []
    stranger = probe(url, **settings)
    assert failed(stranger.ask()) == ("open", -1)
    assert "certificate verify failed" in stranger.end()[0].lower()


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"LDAP_URL": "http://localhost"}, "LDAP_URL"),
        ({"LDAP_URL": f"ldap://admin:{SECRET}@localhost"}, "LDAP_URL"),
        ({"LDAP_URL": "ldap://localhost:port"}, "LDAP_URL"),
        ({"LDAP_TIMEOUT": "soon"}, "LDAP_TIMEOUT"),
        ({"LDAP_TIMEOUT": "-1"}, "LDAP_TIMEOUT"),
        ({"LDAP_TIMEOUT": "nan"}, "LDAP_TIMEOUT"),
        ({"LDAP_FILTER": "(uid=probe"}, "LDAP_FILTER"),
        ({"LDAP_STARTTLS": "yes"}, "LDAP_STARTTLS"),
        ({"LDAP_BIND_DN": "cn=admin"}, "LDAP_BIND_PASSWORD"),
        ({"LDAP_BIND_PASSWORD": SECRET}, "LDAP_BIND_DN"),
    ],
)
def test_a_wrong_setting_ends_it_with_one_line(environment, named):
    done = subprocess.run(
        [sys.executable, str(PROBE)],
        env={**os.environ, **environment},
        input="\n",
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("E! LDAP probe: ")
    assert len(done.stderr.splitlines()) == 1
    assert named in done.stderr
    assert SECRET not in done.stderr
