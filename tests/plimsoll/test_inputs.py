"""What commands read and where from: stores, runs and live hosts as they are typed."""

import json
import os
import subprocess
import sys
import time

import pytest

from model.errors import Unusable
from native import folders
from plimsoll.open_store import store_address
from store.influx_address import Address
from store.influx_server import Server


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch, tmp_path):
    for name in ("INFLUX_URL", "INFLUX_TOKEN", "INFLUX_ORG", "INFLUX_BUCKET"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_STATE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def stack():
    """The settings of a native stack."""
    folder = folders.stack()
    folder.mkdir(parents=True)
    names = ("INFLUX_ORG", "INFLUX_BUCKET", "INFLUX_USERNAME", "INFLUX_PASSWORD", "INFLUX_ADMIN_TOKEN")
    lines = [f"{name}={name.lower()}" for name in (*names, "INFLUX_TOKEN_INGEST")]
    (folder / "influxdb.env").write_text("\n".join(["INFLUX_URL=http://127.0.0.1:8086", *lines]) + "\n")


def test_the_stack_that_runs_here_is_the_store(stack):
    found = store_address(None, {})
    assert (found.url, found.org, found.token) == ("http://127.0.0.1:8086", "influx_org", "influx_token_ingest")


def test_an_env_file_that_is_not_ours_does_not_hide_the_stack(stack, tmp_path):
    (tmp_path / ".env").write_text("DATABASE_URL=x\n")
    assert store_address(None, {}).url == "http://127.0.0.1:8086"


def test_an_env_file_of_ours_is_read_however_it_is_written(tmp_path):
    (tmp_path / ".env").write_text('\ufeffexport INFLUX_URL="http://10.0.0.1:8086"\n# more\nINFLUX_TOKEN=t\n', "utf-8")
    found = store_address(None, {})
    assert (found.url, found.token) == ("http://10.0.0.1:8086", "t")


def test_the_stacks_token_is_for_the_stack_alone(stack):
    with pytest.raises(Unusable, match="no token"):
        store_address("http://influx.example.org:8086", {})
    for scheme in ("http", "https"):
        assert store_address(f"{scheme}://127.0.0.1:8086/", {}).token == "influx_token_ingest"


def test_a_stack_whose_settings_are_lost_is_in_nobodys_way(stack):
    (folders.stack() / "influxd.bolt").touch()
    (folders.stack() / "influxdb.env").unlink()
    for url in (None, "http://127.0.0.1:8086"):
        with pytest.raises(Unusable, match=r"influxdb\.env: is not there"):
            store_address(url, {})
    assert store_address("http://h:1", {"INFLUX_TOKEN": "t"}).url == "http://h:1"


def test_the_token_of_a_stack_with_tls_is_not_sent_without(tmp_path):
    (tmp_path / ".env").write_text("INFLUX_URL=https://10.0.0.1:8086\nINFLUX_TOKEN=t\n")
    with pytest.raises(Unusable, match="no token"):
        store_address("http://10.0.0.1:8086", {})


def test_the_address_says_org_and_bucket():
    found = store_address("http://h:1?org=o&bucket=b", {"INFLUX_TOKEN": "t", "INFLUX_ORG": "x"})
    assert (found.url, found.org, found.bucket) == ("http://h:1", "o", "b")


def test_a_password_in_the_address_is_not_shown():
    with pytest.raises(Unusable) as refused:
        store_address("http://user:secret@h:1", {})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("token", ["a\nb", "€"])
def test_what_is_no_token_is_told_and_not_shown(token):
    with pytest.raises(Unusable, match="INFLUX_TOKEN") as refused:
        store_address("http://h:1", {"INFLUX_TOKEN": token})
    assert token not in str(refused.value)


@pytest.mark.parametrize("url", ["http://a b/", "nonsense", "http://[::1"])
def test_what_is_no_address_is_told_at_once(plimsoll, monkeypatch, url):
    monkeypatch.setenv("INFLUX_TOKEN", "t")
    begun = time.monotonic()
    outcome = plimsoll("runs", "list", "--store", url)
    assert outcome.status == 2
    assert "is not an address" in outcome.err
    assert time.monotonic() - begun < 5


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
@pytest.mark.parametrize("name", ["live:x", "run:x", "live:"])
def test_a_file_is_a_file_whatever_its_name(plimsoll, tmp_path, name):
    (tmp_path / name).write_text('"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\System\\Threads"\n"01/15/2008 10:00:00.000","7"\n')
    for place in (f"./{name}", tmp_path / name, "."):
        shown = plimsoll("show", place, "--json", "-")
        assert [log["values"] for log in json.loads(shown.out)] == [1]
    outcome = plimsoll("show", name)
    assert "no store" in outcome.err


@pytest.mark.parametrize("named", ["run:night", "live:", "live:WEB1"])
def test_what_is_in_a_store_is_not_loaded_again(plimsoll, named):
    outcome = plimsoll("ingest", named, "--run", "again")
    assert outcome.status == 2
    assert "name logs" in outcome.err


@pytest.mark.parametrize("name", ["x//y", "x/", "", " x", "x\n", "x\\", "[/foo]", "a b"])
def test_a_run_has_a_name_that_can_be_said_again(plimsoll, bucket, monkeypatch, request, name):
    for setting in ("url", "org", "bucket", "token"):
        monkeypatch.setenv(f"INFLUX_{setting.upper()}", getattr(bucket, setting))
    log = request.config.rootpath / "examples" / "messaging" / "healthy"
    loaded = plimsoll("ingest", log, "--run", name)
    if loaded.status == 0:
        assert plimsoll("review", f"run:{name}").status == 0
    else:
        assert "--run" in loaded.err
    assert (loaded.status == 0) == (name in ("x//y", "x/", "[/foo]", "a b"))


def points(bucket, host, *ago):
    now = time.time_ns()
    lines = "".join(f"cpu,host={host},cpu=cpu-total usage_idle=50,usage_iowait=0 {now - one * 10**9}\n" for one in ago)
    Server(Address(bucket.url, bucket.org, bucket.bucket, bucket.token)).post(lines.encode())


def clock(ago):
    return time.strftime("%H:%M:%S", time.gmtime(time.time() - ago))


@pytest.mark.parametrize(
    ("span", "rows"),
    [([], 30), (["--from", 7200], 31), (["--from", 7200, "--to", 1500], 6), (["--to", 1500], 7), (["--from", 290], 24)],
)
def test_a_live_range_is_the_latest_such_time(plimsoll, bucket, monkeypatch, span, rows):
    for setting in ("url", "org", "bucket", "token"):
        monkeypatch.setenv(f"INFLUX_{setting.upper()}", getattr(bucket, setting))
    points(bucket, "web1", 4000, *range(1500, 1560, 10), *range(0, 240, 10))
    asked = [one if isinstance(one, str) else clock(one) for one in span]
    outcome = plimsoll("show", "live:web1", *asked, "--json", "-")
    (log,) = [one for one in json.loads(outcome.out) if one["samples"] > 1]
    assert abs(log["samples"] - rows) <= 1
    assert plimsoll("review", "live:WEB1", *asked).status == 0


@pytest.mark.parametrize(
    ("span", "rows"), [(["--last", "3m"], 18), (["--from", "-3m"], 18), (["--from", "-2h", "--to", "-3m"], 7)]
)
def test_a_live_range_may_be_counted_back_from_now(plimsoll, bucket, monkeypatch, span, rows):
    for setting in ("url", "org", "bucket", "token"):
        monkeypatch.setenv(f"INFLUX_{setting.upper()}", getattr(bucket, setting))
    points(bucket, "web1", 4000, *range(0, 240, 10))
    (log,) = [one for one in json.loads(plimsoll("show", "live:", *span, "--json", "-").out) if one["samples"] > 1]
    assert abs(log["samples"] - rows) <= 1
    assert plimsoll("review", "live:", *span).status == 0


def test_a_live_range_of_a_day_to_come_is_told(plimsoll, bucket, monkeypatch):
    for setting in ("url", "org", "bucket", "token"):
        monkeypatch.setenv(f"INFLUX_{setting.upper()}", getattr(bucket, setting))
    points(bucket, "web1", *range(0, 240, 10))
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000 * 10**9)  # 2023-11-14 22:13:20
    outcome = plimsoll("review", "live:", "--from", "12:00", "--to", "10:00")
    assert (outcome.status, outcome.err) == (
        2,
        "plimsoll: --to 10:00 is before --from 12:00; it is 2023-11-14 22:13:20, before it is 10:00 once more\n",
    )


@pytest.mark.parametrize("span", [["--from", "0001-01-01"], ["--to", "9999-12-31", "--from", "2020-01-01"]])
def test_a_range_may_be_as_long_as_one_likes(plimsoll, bucket, monkeypatch, span):
    for setting in ("url", "org", "bucket", "token"):
        monkeypatch.setenv(f"INFLUX_{setting.upper()}", getattr(bucket, setting))
    points(bucket, "web1", *range(0, 240, 10))
    assert plimsoll("review", "live:", *span).status == 0


def test_a_range_that_ends_before_it_begins_is_told(plimsoll, bucket, monkeypatch):
    for setting in ("url", "org", "bucket", "token"):
        monkeypatch.setenv(f"INFLUX_{setting.upper()}", getattr(bucket, setting))
    outcome = plimsoll("review", "live:", "--from", "2024-01-02", "--to", "2024-01-01")
    assert outcome.status == 2
    assert "before --from" in outcome.err


def test_a_reader_who_goes_away_is_no_failure(tmp_path, request):
    log = request.config.rootpath / "examples" / "messaging" / "healthy"
    process = subprocess.Popen(
        [sys.executable, "-m", "plimsoll", "review", str(log)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert process.stderr
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
