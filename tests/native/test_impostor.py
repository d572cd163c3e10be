"""Another program on the port of the stack's InfluxDB gets no token."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from plimsoll.native import folders, settings
from plimsoll.native.influx_api import Api
from plimsoll.native.stack import Stack
from tests.conftest import built, free_port
from tests.impostor import Impostor

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are not run in the background on Windows")

LOG = '"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\System\\Threads"\n"01/15/2008 10:00:00.000","7"\n'


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    """A folder of the user's state, with a stack that has run once and is stopped."""
    built("influxd")
    state = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(state))
        stack = Stack(folders.stack())
    stack.influxdb.start(free_port())
    stack.influxdb.stop()
    return state


@pytest.fixture
def stack(state, telegraf, monkeypatch, tmp_path):
    """The user's own stack, which has run once and is stopped."""
    for name in ("INFLUX_URL", "INFLUX_TOKEN", "INFLUX_ORG", "INFLUX_BUCKET"):
        monkeypatch.delenv(name, raising=False)
    shutil.copytree(state, tmp_path / "state")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(LOG)
    stack = Stack(folders.stack())
    yield stack
    stack.stop()


def secrets(stack):
    made = stack.influxdb.settings()
    return [made[name] for name in (*settings.TOKENS, settings.ADMIN_TOKEN, settings.PASSWORD)]


def port(stack):
    return int(stack.influxdb.settings()[settings.URL].rpartition(":")[2])


@contextmanager
def begun(*arguments, **environment):
    """A command that runs, and is killed at the end of the block."""
    command = [sys.executable, "-m", "plimsoll", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=os.environ | environment, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stderr
        try:
            yield process, process.stderr
        finally:
            process.kill()


def wait_for(condition, within_s=300):
    until = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize(
    "call",
    [
        ["ingest", "a.csv", "--run", "night"],
        ["runs", "list"],
        ["runs", "delete", "night"],
        ["review", "run:night"],
        ["review", "live:"],
    ],
    ids=" ".join,
)
def test_a_command_sends_it_nothing_and_says_why_it_waits(stack, call):
    with Impostor(port(stack)) as other, begun(*call) as (_, stderr):
        said = [stderr.readline() for _ in range(2)]
        wait_for(lambda: other.connections > 1)
    assert str(stack.influxdb.env_file) in said[0]
    assert "another program listens there" in said[1]
    assert other.received == b""


def test_a_token_of_the_stack_is_not_sent_to_it_from_the_environment_either(stack):
    made = stack.influxdb.settings()
    with Impostor(port(stack)) as other:
        for given in ({"INFLUX_URL": made[settings.URL]}, {}):
            given["INFLUX_TOKEN"] = made[settings.TOKEN_INGEST]
            with begun("runs", "list", "--store", made[settings.URL], **given) as (_, stderr):
                assert "another program listens there" in stderr.readline()
    assert other.received == b""


def test_a_command_goes_on_when_the_stack_has_its_port_again(stack):
    with begun("ingest", "a.csv", "--run", "night") as (process, _):
        with Impostor(port(stack)) as other:
            wait_for(lambda: other.connections)
        stack.influxdb.start()
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    assert other.received == b""


def test_a_load_sends_it_nothing_when_the_stack_ends_midway(stack, tmp_path):
    rows = "".join(f'"01/15/2008 {n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}.000","{n}"\n' for n in range(80_000))
    (tmp_path / "b.csv").write_text(LOG.splitlines()[0] + "\n" + rows)
    stack.influxdb.start()
    running = stack.influxdb.background.running()
    assert running
    wal = stack.folder / "engine" / "wal"
    with begun("ingest", "b.csv", "--run", "long"):
        wait_for(lambda: wal.is_dir() and any(wal.rglob("*.wal")))
        os.kill(running.pid, signal.SIGKILL)
        wait_for(lambda: not stack.influxdb.background.running())
        with Impostor(port(stack)) as other:
            wait_for(lambda: other.connections > 1)
    assert other.received == b""


def test_start_and_status_send_it_no_token(stack, plimsoll):
    with Impostor(port(stack)) as other:
        assert plimsoll("stack", "start").status == 2
        assert plimsoll("stack", "status").status == 3
    assert not other.has(*secrets(stack))


def test_settings_that_name_the_port_of_another_program(stack, plimsoll):
    """InfluxDB runs, but not where its settings say, as when an older start was cut off."""
    made = stack.influxdb.start()
    other_port = free_port()
    with Impostor(other_port) as other:
        url = f"http://127.0.0.1:{other_port}"
        settings.write(stack.influxdb.env_file, made | {settings.URL: url}, "of another port")
        for command in ("start", "status"):
            done = plimsoll("stack", command)
            assert done.status == 3, done.out
            assert "another program listens there" in done.err or "does not answer" in done.out
        assert other.received == b""
    settings.write(stack.influxdb.env_file, made, "as it was")


def test_telegraf_ends_with_influxdb_and_sends_it_nothing(stack, plimsoll):
    stack.start()
    token = stack.influxdb.settings()[settings.TOKEN_TELEGRAF]
    running = stack.influxdb.background.running()
    assert running
    time.sleep(1)
    os.kill(running.pid, signal.SIGKILL)
    wait_for(lambda: not stack.influxdb.background.running())
    with Impostor(port(stack)) as other:
        wait_for(lambda: not stack.telegraf.running(), within_s=300)
        time.sleep(3)  # it sends every two seconds
    assert not other.has(token)
    assert "Telegraf not running" in " ".join(plimsoll("stack", "status").out.split())
    stack.start()
    assert stack.status().running
    assert Api(stack.influxdb.settings()[settings.URL]).healthy()


def test_the_watch_ends_with_the_stack(stack):
    stack.start()
    watch = stack.watch.running()
    assert watch
    stack.stop()
    wait_for(lambda: not stack.watch.running())
