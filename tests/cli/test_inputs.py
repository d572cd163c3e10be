"""The inputs of commands: stores, runs and live hosts as users type them."""

import json
import os
import time

import pytest

from plimsoll.api.data_folder import find_default_folder
from plimsoll.store.influx.address import InfluxAddress
from tests.sure_influx import SureServer


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch, tmp_path):
    for name in ("INFLUX_URL", "INFLUX_TOKEN", "INFLUX_ORG", "INFLUX_BUCKET"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_STATE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("url", ["http://a b/", "http://[::1"])
def test_what_is_no_address_is_told(plimsoll, monkeypatch, url):
    monkeypatch.setenv("INFLUX_TOKEN", "t")
    outcome = plimsoll("runs", "list", "--store", url)
    assert outcome.status == 2
    assert "is not an address" in outcome.err


def test_a_store_is_a_folder_or_a_backup_of_it(plimsoll, tmp_path, request):
    log = request.config.rootpath / "examples" / "linux-today" / "healthy"
    assert plimsoll("ingest", log, "--run", "night").status == 0
    backup = tmp_path / "backup.duckdb"
    assert plimsoll("backup", backup).status == 0
    folder = find_default_folder()
    for store in (folder, folder / "plimsoll.duckdb", backup):
        assert "night" in plimsoll("runs", "list", "--store", store).out


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
    lines = "".join(
        f"cpu,host={host},cpu=cpu-total usage_idle=50,usage_iowait=0 {now - item * 10**9}\n" for item in ago
    )
    SureServer(InfluxAddress(bucket.url, bucket.org, bucket.bucket, bucket.token)).post(lines.encode())


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
    result = [item if isinstance(item, str) else clock(item) for item in span]
    outcome = plimsoll("show", "live:web1", *result, "--json", "-")
    (log,) = [load for load in json.loads(outcome.out) if load["samples"] > 1]
    assert abs(log["samples"] - rows) <= 1
    assert plimsoll("review", "live:WEB1", *result).status == 0


@pytest.mark.parametrize(
    ("span", "rows"), [(["--last", "3m"], 18), (["--from", "-3m"], 18), (["--from", "-2h", "--to", "-3m"], 7)]
)
def test_a_live_range_may_be_counted_back_from_now(plimsoll, bucket, monkeypatch, span, rows):
    for setting in ("url", "org", "bucket", "token"):
        monkeypatch.setenv(f"INFLUX_{setting.upper()}", getattr(bucket, setting))
    points(bucket, "web1", 4000, *range(0, 240, 10))
    (log,) = [load for load in json.loads(plimsoll("show", "live:", *span, "--json", "-").out) if load["samples"] > 1]
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
