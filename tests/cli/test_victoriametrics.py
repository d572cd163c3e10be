"""Commands on a VictoriaMetrics: runs as in the embedded store, live samples of agents, and `plimsoll up`."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import urllib3

from plimsoll.model.times import SECOND
from tests.cli.test_review_command import a_log
from tests.conftest import VictoriaMetrics, free_port

BEGIN = 1_699_999_800  # 22:10 of that day


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with VictoriaMetrics(tmp_path_factory.mktemp("victoriametrics")) as result:
        yield result


@pytest.fixture
def address(server, monkeypatch):
    monkeypatch.delenv("INFLUX_URL", raising=False)
    server.forget()
    return f"victoriametrics://{server.address}"


def of(document):
    """What a review found, without the name of the run."""
    return {key: value for key, value in json.loads(document.read_text()).items() if key not in ("run", "created")}


def test_a_run_is_judged_as_its_log_is_and_is_deleted_again_while_the_server_is_away(
    plimsoll, address, server, tmp_path
):
    log = a_log(tmp_path, lambda _: 95)
    assert plimsoll("ingest", log, "--run", "night", "--store", address).status == 0
    server.end()
    try:
        files = [tmp_path / name for name in ("log.json", "run.json")]
        for source, file in zip((log, "run:night"), files, strict=True):
            done = plimsoll("review", source, "--store", address, "--json", file)
            assert done.status == 0, done.err
        assert of(files[0]) == of(files[1])
        assert "night" in plimsoll("runs", "list", "--store", address).out
        assert plimsoll("runs", "delete", "night", "--store", address).status == 0
    finally:
        server.start()
    assert "night" not in plimsoll("runs", "list", "--store", address).out


def test_what_agents_wrote_is_judged(plimsoll, address, server):
    lines = "".join(
        f"cpu,cpu=cpu-total,host={host} usage_idle={idle},usage_iowait=0,usage_steal=0 {(BEGIN + at) * SECOND}\n"
        for at in range(0, 1201, 10)
        for host, idle in (("web1", 2), ("web2", 60))
    )
    assert urllib3.request("POST", f"{server.url}/write", body=lines.encode()).status == 204
    server.show()
    span = ("--from", "2023-11-14T22:10:00Z", "--to", "2023-11-14T22:30:00Z")
    sick = plimsoll("review", "live:WEB1", *span, "--store", address, "--fail-on", "warning")
    assert sick.status == 1, sick.err
    assert "Processor time" in sick.out
    assert plimsoll("review", "live:web2", *span, "--store", address, "--fail-on", "warning").status != 1
    nobody = plimsoll("review", "live:web3", *span, "--store", address)
    assert nobody.status == 2
    assert "nothing of web3" in nobody.err


def test_what_root_has_in_reserve_is_judged_alike_of_telegraf_and_of_sadf(plimsoll, address, server, tmp_path):
    """A file system of 80 GB with 5 % for root and 3 GB free, as recorded by Telegraf 1.37.2 and sysstat 12.6.1."""
    disk = "disk,host=full,path=/,device=sda1,fstype=ext4,mode=rw "
    disk += "total=80000000000i,free=3000000000i,used=73000000000i,used_percent=96.05263157894737"
    times = range(BEGIN, BEGIN + 1201, 10)
    lines = "".join(f"{disk} {at * SECOND}\n" for at in times)
    assert urllib3.request("POST", f"{server.url}/write", body=lines.encode()).status == 204
    server.show()
    sadf = tmp_path / "full.sadf"
    rows = [f"full;10;{time.strftime('%F %T', time.gmtime(at))} UTC;/dev/sda1;6676;69618;91.25;96.25" for at in times]
    sadf.write_text(
        "\n".join(["# hostname;interval;timestamp;FILESYSTEM;MBfsfree;MBfsused;%fsused;%ufsused", *rows, ""])
    )
    span = ("--from", "2023-11-14T22:10:00Z", "--to", "2023-11-14T22:30:00Z")
    entries = []
    for source in (("live:full", *span, "--store", address), (sadf,)):
        done = plimsoll("review", *source, "--json", tmp_path / "out.json")
        assert done.status == 0, done.err
        rules = json.loads((tmp_path / "out.json").read_text())["rules"]
        entries.append({rule["rule"] for rule in rules if rule["breaches"]})
    assert entries[0] == entries[1] >= {"linux-file-system-full", "linux-file-system-full-critical"}


OWN_PACK = """
pack: queues
title: Queues of an application
about: An application that queues its requests.
signals:
  queues.waiting:
    title: Requests waiting
    unit: requests
    meaning: Requests that wait.
    sources: [{measurement: my_app, field: queue_length}]
rules:
  - id: queues-waiting
    signal: queues.waiting
    healthy: "< 10 requests"
    over: 1m
    severity: warning
    sources: [{document: Its manual, place: Queues}]
    summary: Requests wait.
    cases:
      - {name: fires, fires: true, series: {queues.waiting: "50x10"}}
      - {name: just below, fires: false, series: {queues.waiting: "9x10"}}
      - {name: no data, fires: null, series: {}}
"""


def test_a_measurement_of_ones_own_pack_may_have_an_underscore_in_its_name(plimsoll, address, server, tmp_path):
    pack = tmp_path / "queues.yaml"
    pack.write_text(OWN_PACK)
    lines = "".join(f"my_app,host=web9 queue_length=50 {(BEGIN + at) * SECOND}\n" for at in range(0, 1201, 10))
    assert urllib3.request("POST", f"{server.url}/write", body=lines.encode()).status == 204
    server.show()
    span = ("--from", "2023-11-14T22:10:00Z", "--to", "2023-11-14T22:30:00Z")
    done = plimsoll("review", "live:web9", *span, "--store", address, "--pack", pack, "--fail-on", "warning")
    assert (done.status, "Requests waiting" in done.out) == (1, True), done.err


def test_a_server_that_is_away_is_said(plimsoll):
    done = plimsoll("review", "live:", "--store", "victoriametrics://127.0.0.1:9")
    assert done.status == 3
    assert "is VictoriaMetrics running there?" in done.err


def test_what_plimsoll_up_takes_is_in_the_server_and_runs_in_a_folder(plimsoll, address, server, tmp_path):
    data, shared = Path(os.environ["XDG_DATA_HOME"]) / "plimsoll", tmp_path / "shared"
    data.mkdir(0o700, parents=True)
    (data / "up.toml").write_text(f"store.runs = '{shared}'")
    (data / "up.toml").chmod(0o600)
    listen = f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "plimsoll", "up", "--no-collect", "--store", address, "--listen", listen]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        assert any("Ctrl-C" in line for line in process.stdout), process.communicate()[1]
        now = time.time_ns() // SECOND
        line = f"cpu,cpu=cpu-total,host=web7 usage_idle=12.5 {now * SECOND}\n"
        assert urllib3.request("POST", f"http://{listen}/api/v2/write?org=o&bucket=b", body=line.encode()).status == 204
        server.show()
        text = f"{server.url}/api/v1/export?match[]=cpu_usage_idle&start={now - 5}&end={now + 5}"
        (result,) = map(json.loads, urllib3.request("GET", text).data.splitlines())
        assert (result["metric"]["host"], result["values"], result["timestamps"]) == ("web7", [12.5], [now * 1000])
        assert plimsoll("ingest", a_log(tmp_path, lambda _: 20), "--run", "through").status == 0
        assert "through" in plimsoll("runs", "list").out
        process.send_signal(signal.SIGTERM)
        assert process.wait(300) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.communicate()
    assert "through" in plimsoll("runs", "list", "--store", f"runs:{shared}").out


def test_a_folder_of_runs_needs_a_server_for_live_samples(plimsoll):
    data = Path(os.environ["XDG_DATA_HOME"]) / "plimsoll"
    data.mkdir(0o700, parents=True)
    (data / "up.toml").write_text("store.runs = 'shared'")
    (data / "up.toml").chmod(0o600)
    done = plimsoll("up", "--no-collect")
    assert (done.status, "store.runs is for samples in a VictoriaMetrics" in done.err) == (2, True)
