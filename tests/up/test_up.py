"""`plimsoll up` as a user runs it: a process of its own, a webhook, and an end on request."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import numpy as np
import pytest

from plimsoll.alerting.loop import AlertLoop
from plimsoll.alerting.rule_targets import Site
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.receive.write_queue import WriteQueue
from plimsoll.rules.load import load
from plimsoll.rules.subjects import Subject
from plimsoll.serve.listen import Listen
from plimsoll.up.running import OnlyOne
from plimsoll.up.up import Setup, Up
from tests.conftest import free_port

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM")


@pytest.fixture
def webhook():
    """Receives what is posted: a list of the time and the message of each."""
    received = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((time.monotonic(), json.loads(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"json://127.0.0.1:{server.server_port}/", received
    server.shutdown()
    server.server_close()


@pytest.fixture
def up(tmp_path):
    """Starts `plimsoll up` on a folder, and returns the process and its address once it listens."""
    started = []

    def start(*arguments, folder=tmp_path / "data"):
        port = free_port()
        command = [
            sys.executable,
            "-m",
            "plimsoll",
            "up",
            "--store",
            folder,
            "--listen",
            f"127.0.0.1:{port}",
            *arguments,
        ]
        process = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout
        assert any("Ctrl-C" in line for line in process.stdout), process.communicate()[1]
        return process, f"http://127.0.0.1:{port}"

    yield start
    for process in started:
        process.kill()
        process.communicate()


def folder_with(tmp_path, text):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    (folder / "up.toml").write_text(text)
    (folder / "up.toml").chmod(0o600)
    return folder


def of_host(received, host):
    return [(at, message["title"]) for at, message in list(received) if host in message["title"] + message["message"]]


def wait_for(values, seconds):
    until = time.monotonic() + seconds
    while not values() and time.monotonic() < until:
        time.sleep(0.5)
    return values()


def test_the_demo_alerts_once_and_then_recovers(up, webhook, tmp_path, plimsoll):
    address, received = webhook
    folder_with(tmp_path, f'[notify.hook]\nurl = "{address}"\n')
    process, _ = up("--demo", "--no-collect")
    runs = plimsoll("runs", "list", "--store", tmp_path / "data").out
    assert "demo 4GB" in runs
    assert "demo 8GB" in runs
    (fired,) = wait_for(lambda: of_host(received, "demo-sql"), 600)
    assert "Page life expectancy" in fired[1]
    assert len(wait_for(lambda: of_host(received, "demo-sql")[1:], 900)) == 1
    titles = [title for _, title in of_host(received, "demo-sql")]
    assert ["RECOVERED" in title.upper() for title in titles] == [False, True]
    process.send_signal(signal.SIGTERM)
    assert process.wait(300) == 128 + signal.SIGTERM


def test_settings_are_read_anew_and_wrong_ones_change_nothing(up, webhook, plimsoll, tmp_path):
    address, received = webhook
    folder = folder_with(tmp_path, "")
    facts = tmp_path / "plimsoll.toml"
    facts.write_text("")
    assert plimsoll("reload", "--store", folder).status == 3
    process, pages = up("--no-collect", "--settings", facts)

    def page():
        with urlopen(f"{pages}/alerts") as answer:
            return answer.read().decode()

    def write(text, of_hosts=""):
        (folder / "up.toml").write_text(text)
        facts.write_text(of_hosts)

    target = f'[notify.hook]\nurl = "{address}"\n'
    write(target)
    done = plimsoll("reload", "--store", folder)
    assert (done.status, done.out) == (0, "The settings were read anew; they notify hook.\n")
    assert 'aria-label="Send a test message to hook"' in page()
    for wrong in (("[notify.hook]\nurl = 1\nno_such = 2\n",), (target, '[rules.no-such]\noff = true\nreason = "-"\n')):
        write(*wrong)
        refused = plimsoll("reload", "--store", folder)
        assert refused.status == 2
        assert "those of before hold: " in refused.err
        assert "toml" in refused.err
        assert r"\n" not in refused.err
        assert "The new settings are refused" in page()
        assert 'aria-label="Send a test message to hook"' in page()
    write(target + "[limits]\nhosts = 7\n")
    process.send_signal(signal.SIGHUP)
    assert wait_for(lambda: "A change of limits in up.toml needs a restart." in page(), 60)
    urlopen(Request(f"{pages}/targets/test", b"target=hook", method="POST")).close()
    assert [message["title"] for _, message in received] == ["Plimsoll: a test"]
    with pytest.raises(HTTPError, match="401"):
        urlopen(Request(f"{pages}/api/own/reload", b"", method="POST"))


def test_a_target_that_a_form_adds_is_sent_a_test_and_its_address_is_not_shown(up, webhook, tmp_path):
    address, received = webhook
    folder = folder_with(tmp_path, '[notify.mine]\nurl = "json://127.0.0.1:9/"\n')
    _, pages = up("--no-collect")
    url = f"{address.replace('json', 'http')}t0p-secret"

    def send(path, **fields):
        try:
            with urlopen(Request(f"{pages}{path}", urlencode(fields).encode(), method="POST")) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()

    status, page = send("/targets", kind="webhook", name="hook", url=url)
    assert (status, [message["title"] for _, message in received]) == (200, ["Plimsoll: a test"])
    assert "sent</span>" in page
    assert "t0p-secret" not in page
    assert (folder / "targets.toml").stat().st_mode & 0o77 == 0
    for fields, why in {
        ("webhook", "hook", url): "there is a target hook",
        ("webhook", "mine", url): "there is a target mine",
        ("slack", "chat", url): "hooks.slack.com/services/",
        ("webhook", "other", ""): "give the address of the webhook",
        ("fax", "other", url): "choose what is notified",
    }.items():
        status, page = send("/targets", **dict(zip(("kind", "name", "url"), fields, strict=True)))
        assert (status, why in page, "t0p-secret" in page) == (422, True, False)
    assert "edit up.toml" in send("/targets/remove", target="mine")[1]
    assert 'aria-label="Remove hook"' not in send("/targets/remove", target="hook")[1]
    assert not (folder / "targets.toml").exists()
    assert (folder / "up.toml").read_text().startswith("[notify.mine]")


def test_settings_of_hosts_that_are_the_same_are_not_planned_anew(duckdb, tmp_path, monkeypatch):
    """Any viewer may press the button; planning 1,000 hosts took all the time between two evaluations."""
    catalogue, planned = load(), []
    facts = {Subject("web1"): {"memory_mb": 8192.0}}
    read = [(Site(catalogue), {}), (Site(catalogue), facts)]
    monkeypatch.setattr(AlertLoop, "judge_by", lambda _, __, values: planned.append(values))
    folder = folder_with(tmp_path, "")
    setup = Setup(folder, Listen(port=0), read=lambda: read.pop(0))
    running = Up(setup, OnlyOne(folder), duckdb, Site(catalogue), {})
    running.start()
    try:
        assert [running.reload().refused for _ in range(2)] == ["", ""]
    finally:
        running.stop()
    assert planned == [facts]


def test_collected_samples_are_written_together_and_none_is_lost_at_the_end(duckdb, tmp_path, monkeypatch):
    interval, collected, commits, enough = 20_000_000, [], [], Event()
    cpu, put = Series("web1", "cpu", (), "busy"), WriteQueue.put

    def collect(now):
        collected.append(now)
        if len(collected) > 7:
            enough.set()
        if len(collected) % 4 == 0:
            raise OSError("no answer")
        return Points([cpu], np.zeros(1, np.int32), np.array([now]), np.array([float(len(collected))]))

    def refuse_second(queue, points):
        commits.append(points)
        if len(commits) == 2:
            raise RuntimeError("a defect")
        return put(queue, points)

    monkeypatch.setattr("plimsoll.up.up.EVALUATION_INTERVAL", interval)
    monkeypatch.setattr(WriteQueue, "put", refuse_second)
    setup = Setup(folder_with(tmp_path, ""), Listen(port=0), sources=[collect], delay=3 * interval)
    running = Up(setup, OnlyOne(setup.folder), duckdb, Site(load()), {})
    running.start()
    enough.wait(300)
    running.stop()
    refused = set(commits[1].times.tolist())
    (stored,) = duckdb.samples.read([cpu], 0, collected[-1] + 1)
    assert stored.times.tolist() == [now for at, now in enumerate(collected, 1) if at % 4 and now not in refused]
    assert len(commits) < len(collected) - len(collected) // 4


def test_another_on_the_same_folder_is_refused_and_other_commands_use_its_store(up, plimsoll, tmp_path, request):
    log = request.config.rootpath / "examples" / "messaging" / "healthy"
    folder = tmp_path / "data"
    process, address = up("--no-collect")
    second = subprocess.run(
        [sys.executable, "-m", "plimsoll", "up", "--store", folder, "--listen", f"127.0.0.1:{free_port()}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert second.returncode == 2
    assert f"process {process.pid}" in second.stderr
    assert "Traceback" not in second.stderr
    with urlopen(f"{address}/health") as answer:
        assert json.load(answer)["status"] == "pass"
    loaded = plimsoll("ingest", log, "--run", "night", "--store", folder)
    assert loaded.status == 0, loaded.err
    assert "night" in plimsoll("runs", "list", "--store", folder).out
    result = plimsoll("review", "run:night", "--store", folder, "--json", "-").out
    process.send_signal(signal.SIGTERM)
    process.wait(300)
    assert plimsoll("review", "run:night", "--store", folder, "--json", "-").out == result
    assert plimsoll("runs", "delete", "night", "--store", folder).status == 0


def test_all_files_are_the_owners_and_secrets_are_not_printed(up, tmp_path):
    folder = folder_with(tmp_path, 'login = "always"\n[notify.a]\nurl = "json://127.0.0.1:9/"\n')
    folder.chmod(0o755)
    (folder / "alerts.db").touch(mode=0o644)
    (folder / "reviews").mkdir(mode=0o755)
    (folder / "reviews" / "old.json").write_text("{}")
    process, address = up("--no-collect", "--allow-host", "plimsoll.example.org")
    try:
        secrets = dict(line.split(": ") for line in (folder / "new-secrets").read_text().splitlines())
        assert set(secrets) == {"token", "password"}
        request = Request(f"{address}/api/v2/write?org=o&bucket=b", b"cpu,host=a v=1", method="POST")
        request.add_header("Authorization", f"Token {secrets['token']}")
        with urlopen(request) as answer:
            assert answer.status == 204
        with pytest.raises(HTTPError, match="401"):
            urlopen(address)
        backup = tmp_path / "backup.duckdb"
        command = [sys.executable, "-m", "plimsoll", "backup", str(backup), "--store", str(folder)]
        subprocess.run(command, check=True, capture_output=True)
        copies = [backup, tmp_path / "backup.alerts.db", tmp_path / "backup.up.toml"]
        modes = {path.name: oct(path.stat().st_mode & 0o777) for path in (folder, *folder.rglob("*"), *copies)}
        assert copies[2].read_bytes() == (folder / "up.toml").read_bytes()
        with closing(sqlite3.connect(copies[1])) as copy:
            assert copy.execute("SELECT name FROM targets").fetchone() == ("a",)
        assert modes == {
            name: "0o700" if name in ("data", "reviews", "uploads", "plimsoll.duckdb.runs") else "0o600"
            for name in modes
        }, modes
        assert len(modes) > 6
    finally:
        process.terminate()
        out, err = process.communicate(timeout=300)
    for secret in secrets.values():
        assert secret not in out + err


def test_addresses_that_others_can_read_are_refused(plimsoll, tmp_path):
    folder = folder_with(tmp_path, '[notify.a]\nurl = "json://joe:secret@127.0.0.1:9/"\n')
    for mode in (0o644, 0o640, 0o604):
        (folder / "up.toml").chmod(mode)
        result = plimsoll("up", "--store", folder, "--listen", "127.0.0.1:0")
        assert (result.status, result.err.count("\n")) == (2, 1)
        assert "chmod 600" in result.err
        assert "secret" not in result.err


def test_no_server_is_opened_to_the_clients_of_a_proxy(plimsoll, tmp_path):
    folder = folder_with(tmp_path, "")
    result = plimsoll("up", "--store", folder, "--listen", "127.0.0.1:0", "--allow-host", "plimsoll.example.org")
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert 'login = "always"' in result.err
