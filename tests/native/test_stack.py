"""`plimsoll stack` runs the real servers: they are set up once, found again, and stopped."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

from plimsoll.native import background, folders, settings
from plimsoll.native.influx import InfluxDB
from plimsoll.native.stack import Stack
from tests.conftest import free_port

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are not run in the background on Windows")


@pytest.fixture(autouse=True)
def own_folders(monkeypatch, tmp_path):
    """No test touches, or is touched by, servers that someone runs here."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(name="free_port")
def _free_port():
    return free_port()


@pytest.fixture
def stack(influxdb, telegraf, tmp_path):
    """A stack that does not run yet, and does not run any longer when the test has ended."""
    stack = Stack(tmp_path / "stack")
    yield stack
    stack.stop()


def call(method, url, token, body=None):
    """The status and the answer."""
    request = urllib.request.Request(url, body, {"Authorization": f"Token {token}"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=300) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def call_is_answered(url):
    try:
        return bool(call("GET", url, ""))
    except OSError:
        return False


def query(bucket, token, influxql):
    asked = urllib.parse.urlencode({"db": bucket.bucket, "q": influxql})
    return call("GET", f"{bucket.url}/query?{asked}", token)


def write(bucket, token, lines=b"m,host=h f=1 1000000000\n"):
    asked = urllib.parse.urlencode({"org": bucket.org, "bucket": bucket.bucket})
    return call("POST", f"{bucket.url}/api/v2/write?{asked}", token, lines)[0]


def delete(bucket, token):
    asked = urllib.parse.urlencode({"org": bucket.org, "bucket": bucket.bucket})
    body = json.dumps({"start": "1970-01-01T00:00:00Z", "stop": "1971-01-01T00:00:00Z"}).encode()
    return call("POST", f"{bucket.url}/api/v2/delete?{asked}", token, body)[0]


def test_start_status_stop(plimsoll, stack, free_port):
    started = plimsoll("stack", "start", "--folder", stack.folder, "--port", free_port)
    assert started.status == 0, started.err
    assert f"http://127.0.0.1:{free_port}" in started.out
    made = stack.influxdb.settings()
    assert str(stack.influxdb.env_file) in started.out
    assert not any(made[name] in started.out + started.err for name in (*settings.TOKENS, settings.PASSWORD))

    again = plimsoll("stack", "start", "--folder", stack.folder)
    size = r"[\d.]+ [kM]B"  # InfluxDB writes meanwhile
    assert re.sub(size, "", again.out) == re.sub(size, "", started.out)
    assert stack.influxdb.settings() == made

    asked = plimsoll("stack", "status", "--folder", stack.folder, "--json", "-")
    assert asked.status == 0
    found = json.loads(asked.out)
    assert found["schema"] == "plimsoll.stack/1"
    assert (found["running"], found["url"]) == (True, f"http://127.0.0.1:{free_port}")
    assert [server["name"] for server in found["servers"]] == ["InfluxDB", "Telegraf"]

    stopped = plimsoll("stack", "stop", "--folder", stack.folder)
    assert (stopped.status, stopped.out) == (0, "stopped: Telegraf, InfluxDB\n")
    assert plimsoll("stack", "status", "--folder", stack.folder).status == 3
    assert plimsoll("stack", "stop", "--folder", stack.folder).out == "nothing was running\n"
    assert not call_is_answered(f"http://127.0.0.1:{free_port}/health")


def test_telegraf_writes_what_grafana_reads_and_a_restart_keeps_it(stack, free_port):
    stack.start(free_port)
    made = stack.influxdb.settings()
    asked = urllib.parse.urlencode({"db": made[settings.BUCKET], "q": "SHOW MEASUREMENTS"})

    def measurements():
        return call("GET", f"{made[settings.URL]}/query?{asked}", made[settings.TOKEN_GRAFANA])[1]

    until = time.monotonic() + 300
    while '["mem"]' not in measurements():
        assert time.monotonic() < until, stack.telegraf.log.read_text()
        time.sleep(0.5)
    stack.stop()
    stack.start()
    assert '["mem"]' in measurements()


def test_only_the_owner_reads_the_secrets(stack, free_port):
    stack.influxdb.start(free_port)
    assert stat.S_IMODE(stack.influxdb.env_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(stack.folder.stat().st_mode) == 0o700
    made = stack.influxdb.settings()
    secrets = [made[name] for name in (settings.PASSWORD, settings.ADMIN_TOKEN, *settings.TOKENS)]
    assert len(set(secrets)) == len(secrets)
    assert min(map(len, secrets)) >= 32


def test_what_each_token_may_do(bucket):
    assert write(bucket, bucket.telegraf_token) == 204
    assert write(bucket, bucket.token) == 204
    assert write(bucket, bucket.grafana_token) == 403
    for token in (bucket.token, bucket.grafana_token):
        assert '["1970-01-01T00:00:01Z",1]' in query(bucket, token, "SELECT f FROM m")[1]
    assert "[1" not in query(bucket, bucket.telegraf_token, "SELECT f FROM m")[1]
    # InfluxDB lets no-one delete who may not write; Telegraf's token may, within its own bucket.
    assert delete(bucket, bucket.grafana_token) == 403
    assert delete(bucket, bucket.token) == 204
    assert "values" not in query(bucket, bucket.token, "SELECT f FROM m")[1]


def test_no_token_reaches_beyond_its_bucket(influxdb, bucket):
    for token in (bucket.token, bucket.telegraf_token):
        assert write(influxdb, token) in (401, 403, 404)
    for token in (bucket.token, bucket.telegraf_token, bucket.grafana_token):
        assert json.loads(call("GET", f"{bucket.url}/api/v2/authorizations", token)[1])["authorizations"] == []
        assert call("GET", f"{bucket.url}/api/v2/buckets?name={influxdb.bucket}", token)[1].count('"id"') == 0


def test_ingest_can_ask_how_long_data_is_kept(influxdb):
    short = influxdb.fresh(retention_s=7200)
    for token in (short.token, short.grafana_token):
        status, answer = call("GET", f"{short.url}/api/v2/buckets?name={short.bucket}", token)
        assert status == 200
        assert json.loads(answer)["buckets"][0]["retentionRules"][0]["everySeconds"] == 7200


def test_retention_is_set_and_stays(stack, plimsoll, free_port):
    def kept():
        made = stack.influxdb.settings()
        url = f"{made[settings.URL]}/api/v2/buckets?name=plimsoll"
        return json.loads(call("GET", url, made[settings.TOKEN_INGEST])[1])["buckets"][0]["retentionRules"]

    stack.start(free_port)
    assert sum(rule["everySeconds"] for rule in kept()) == 0
    for retention, seconds in (("90d", 90 * 86400), (None, 90 * 86400), ("forever", 0)):
        asked = ["--retention", retention] if retention else []
        assert plimsoll("stack", "start", "--folder", stack.folder, *asked).status == 0
        assert sum(rule["everySeconds"] for rule in kept()) == seconds


@pytest.mark.parametrize("retention", ["soon", "5m", "90"])
def test_a_retention_that_cannot_be(plimsoll, influxdb, telegraf, tmp_path, retention):
    done = plimsoll("stack", "start", "--folder", tmp_path / "stack", "--retention", retention)
    assert done.status == 2
    assert retention in done.err
    assert not (tmp_path / "stack").exists()


def test_a_port_that_is_taken(plimsoll, influxdb, stack):
    port = influxdb.url.rpartition(":")[2]
    done = plimsoll("stack", "start", "--folder", stack.folder, "--port", port)
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        f"plimsoll: port {port} is taken by another program; stop that, or choose another, such as "
        f"--port {int(port) + 1}\n"
    )
    assert not stack.status().running


def test_another_port_while_it_runs(plimsoll, stack, free_port):
    stack.influxdb.start(free_port)
    done = plimsoll("stack", "start", "--folder", stack.folder, "--port", 1 if free_port != 1 else 2)
    assert done.status == 2
    assert f"InfluxDB runs on port {free_port} already" in done.err


def test_a_mark_whose_number_another_process_has(stack, free_port):
    """A crash leaves the mark; by then its number may be anyone's, such as this test's."""
    stack.start(free_port)
    before = stack.influxdb.background.running()
    os.kill(before.pid, signal.SIGKILL)
    while stack.influxdb.background.running():
        time.sleep(0.02)
    mark = stack.influxdb.background.mark
    mark.write_text(mark.read_text().replace(str(before.pid), str(os.getpid())))
    assert not stack.status().running
    stack.start()
    assert stack.status().running
    assert stack.influxdb.background.running().pid not in (before.pid, os.getpid())


@pytest.mark.parametrize("content", ["", "12", "{}", '{"pid": "x", "version": 1, "since": 2}', "\xff"])
def test_a_mark_that_says_nothing(tmp_path, content):
    server = background.Background("server", tmp_path)
    server.mark.write_text(content, encoding="latin-1")
    assert server.running() is None
    assert server.stop() is False


def test_set_up_goes_on_where_it_was_cut_off(stack, free_port, monkeypatch):
    """Secrets are kept before InfluxDB hears of them; tokens that are missing are made."""
    monkeypatch.setattr("plimsoll.native.influx.set_up", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        stack.start(free_port)
    assert not stack.influxdb.background.running()
    monkeypatch.undo()
    stack.start(free_port)
    made = stack.influxdb.settings()
    settings.write(
        stack.influxdb.env_file, {name: made[name] for name in made if name != settings.TOKEN_GRAFANA}, "cut off"
    )
    stack.start()
    assert {**made, settings.TOKEN_GRAFANA: ""} == {**stack.influxdb.settings(), settings.TOKEN_GRAFANA: ""}


def test_a_telegraf_that_does_not_start_takes_influxdb_with_it(stack, plimsoll, free_port, tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "configurations", lambda: tmp_path)
    (tmp_path / "linux.conf").write_text("[[inputs.cpu]]\n  percpus = true\n")
    done = plimsoll("stack", "start", "--folder", stack.folder, "--port", free_port)
    assert done.status == 3
    assert len(done.err.splitlines()) == 1
    assert "percpus" in done.err
    assert str(stack.telegraf.log) in done.err
    assert not stack.influxdb.background.running()


def test_two_starts_at_once(stack, free_port):
    with background.one_at_a_time(stack.folder), pytest.raises(background.Unusable, match="just being started"):
        stack.start(free_port)


def test_a_folder_that_cannot_be_written(plimsoll, influxdb, telegraf, tmp_path):
    (tmp_path / "file").touch()
    done = plimsoll("stack", "start", "--folder", tmp_path / "file")
    assert done.status == 2
    assert "choose another with --folder" in done.err


@pytest.mark.parametrize("text", ["INFLUX_URL\n", "INFLUX_URL=http://127.0.0.1:1\n"])
def test_settings_that_are_damaged(plimsoll, influxdb, telegraf, tmp_path, text):
    (tmp_path / "influxdb.env").write_text(text)
    for command in ("start", "status"):
        done = plimsoll("stack", command, "--folder", tmp_path)
        assert done.status == 2
        assert "influxdb.env" in done.err


def test_settings_that_are_lost(stack, plimsoll, free_port):
    """The tokens of the data are nowhere else."""
    stack.influxdb.start(free_port)
    kept = stack.influxdb.env_file.rename(stack.folder / "kept.env")
    for _ in ("while it runs", "and after"):
        for command in ("start", "status"):
            done = plimsoll("stack", command, "--folder", stack.folder)
            assert (done.status, done.out) == (2, "")
            assert f"{stack.influxdb.env_file}: is not there" in done.err
            assert f"move {stack.folder} away" in done.err
        assert plimsoll("stack", "stop", "--folder", stack.folder).status == 0
        assert not stack.influxdb.background.running()
    kept.rename(stack.influxdb.env_file)
    assert stack.influxdb.start()[settings.URL].endswith(str(free_port))


def test_settings_of_other_data(stack, plimsoll, free_port):
    made = stack.influxdb.start(free_port)
    stack.stop()
    settings.write(stack.influxdb.env_file, made | {settings.ADMIN_TOKEN: "another"}, "of other data")
    done = plimsoll("stack", "start", "--folder", stack.folder)
    assert done.status == 2
    assert f"{settings.ADMIN_TOKEN} is not that of the data in {stack.folder}" in done.err
    assert not stack.influxdb.background.running()


def test_ctrl_c_in_the_terminal_does_not_reach_the_servers(stack, free_port):
    """The terminal sends it to the whole process group of the command that started them."""
    code = f"from pathlib import Path; from plimsoll.native.stack import Stack; Stack(Path({str(stack.folder)!r})).start({free_port})"
    starter = subprocess.Popen(
        [sys.executable, "-c", f"{code}; print('started', flush=True); import time; time.sleep(60)"],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert starter.stdout
    assert starter.stdout.readline() == b"started\n"
    os.killpg(starter.pid, signal.SIGINT)
    starter.communicate()
    assert stack.status().running


def test_an_influxdb_for_oneself(influxdb, tmp_path):
    server = InfluxDB(tmp_path)
    with server as made:
        assert server.background.running()
        assert call("GET", f"{made[settings.URL]}/health", "")[0] == 200
    assert not server.background.running()
