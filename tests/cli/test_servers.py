"""What a server recorded stands wherever a log does."""

import json
import time
from itertools import pairwise

import pytest
import urllib3

MINUTES = 40


@pytest.fixture(scope="module")
def server(victoriametrics):
    """A VictoriaMetrics with three hosts of node_exporter, of which srv2 is busy in its last half, and a proxy."""
    end = time.time_ns() // 60_000_000_000 * 60_000
    times = [end - 15_000 * back for back in range(4 * MINUTES, -1, -1)]
    lines = []
    for host in ("srv1", "srv2", "srv3"):
        for mode in ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"):
            busy = [0.99 if host == "srv2" and at > 2 * MINUTES else 0.2 for at in range(len(times))]
            shares = [one if mode == "user" else 1 - one if mode == "idle" else 0 for one in busy]
            values = [15 * sum(shares[: at + 1]) for at in range(len(shares))]
            labels = {"__name__": "node_cpu_seconds_total", "cpu": "0", "mode": mode}
            lines.append((labels, values, host))
        lines.append(({"__name__": "node_memory_MemTotal_bytes"}, [8e9] * len(times), host))
        lines.append(({"__name__": "node_memory_MemAvailable_bytes"}, [4e9] * len(times), host))
    body = "\n".join(
        json.dumps(
            {"metric": {**labels, "instance": f"{host}:9100", "job": "farm"}, "values": values, "timestamps": times}
        )
        for labels, values, host in lines
    )
    assert urllib3.request("POST", f"{victoriametrics}/api/v1/import", body=body).status == 204
    urllib3.request("GET", f"{victoriametrics}/internal/force_flush")
    return victoriametrics.replace("http://", "prometheus://")


def text_of(done):
    return " ".join(done.err.split()) + " ".join(done.out.split())


def halves():
    end = time.time_ns() // 60_000_000_000 * 60
    clocks = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end - 60 * ago)) for ago in (MINUTES, MINUTES // 2, 0)]
    return [f"from={start}&to={stop}" for start, stop in pairwise(clocks)]


def test_hosts_are_reviewed_and_chosen(plimsoll, server):
    matched = ("--last", "1h", "--match", 'job="farm"', "--fail-on", "warning")
    assert "web" not in plimsoll("show", server, *matched[:4]).out
    sick = plimsoll("review", server, *matched)
    assert (sick.status, "Not healthy" in sick.out, "srv2" in sick.out) == (1, True, True)
    assert "3 hosts" in sick.out
    assert plimsoll("review", server, *matched, "--host", "srv1", "--host", "srv3").status != 1
    one = json.loads(plimsoll("show", server, "--last", "1h", "--host", "SRV1", "--json", "-").out)
    assert [(log["hosts"], log["format"]) for log in one] == [(["srv1"], "Prometheus")]


def test_runs_of_other_times_are_compared_and_loaded(plimsoll, server):
    before, after = (f"{server}?host=srv2&{half}" for half in halves())
    compared = plimsoll("compare", before, after, "--json", "-")
    assert compared.status == 0, compared.err
    assert "cpu" in compared.out
    assert "no load was recorded" in text_of(plimsoll("capacity", before, after))
    loaded = plimsoll("ingest", after, "--run", "busy")
    assert loaded.status == 0, loaded.err
    assert "is in" in text_of(plimsoll("ingest", after, "--run", "busy"))
    assert plimsoll("review", "run:busy", "--fail-on", "warning").status == 1


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("http://127.0.0.1:9090", "write prometheus://HOST:9090"),
        ("http:/127.0.0.1:9090/metrics", "write prometheus://HOST:9090"),
        ("prometheus:/127.0.0.1", "write prometheus://HOST:9090"),
        ("prometheus://a:secret@127.0.0.1:9", "must hold no password"),
        ("prometheus://127.0.0.1:9?form=10:00", "form in its address is not known"),
        ("prometheus://", "is not an address"),
        ("prometheus://127.0.0.1:1?last=1h", "does not answer"),
    ],
)
def test_what_is_no_server_is_told(plimsoll, monkeypatch, source, words):
    monkeypatch.setattr("plimsoll.receive.servers.prometheus._PATIENCE_S", 0.1)
    done = plimsoll("review", source)
    assert done.status in (2, 3)
    assert words in text_of(done)
    assert "secret" not in done.err


def test_a_host_that_it_has_not_is_told(plimsoll, server):
    assert "nothing of nobody" in text_of(plimsoll("review", server, "--last", "1h", "--host", "nobody"))
    both = ("--host", "srv1", "--host", "gone")
    assert "nothing of gone" in text_of(plimsoll("review", server, "--last", "1h", *both))
    assert "--host and --match are for a server" in text_of(plimsoll("review", ".", "--host", "web1"))


def test_a_query_that_the_server_refuses_is_told(plimsoll, server):
    assert "refuses" in text_of(plimsoll("review", server, "--match", "job=~~"))
