"""Logs loaded into a real store and read back: `ingest`, `runs`, and `review` of a run."""

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from plimsoll.ingest.convert.write_pdh import WallClock, write_pdh
from plimsoll.store import lease
from plimsoll.store.influx.address import InfluxAddress
from plimsoll.store.influx.runs import make_influx_store
from plimsoll.store.influx.server import InfluxServer
from plimsoll.store.lease import LeaseEnded, hold_lease
from plimsoll.store.protocol import Work
from tests.conftest import built
from tests.servers.influx import InfluxDB
from tests.sure_influx import SureServer

EVER = (0, 2**62)


@pytest.fixture
def environment(bucket, monkeypatch):
    """Names the bucket as the store of commands."""
    fields = {
        "INFLUX_URL": bucket.url,
        "INFLUX_ORG": bucket.org,
        "INFLUX_BUCKET": bucket.bucket,
        "INFLUX_TOKEN": bucket.token,
    }
    for name, value in fields.items():
        monkeypatch.setenv(name, value)
    return {**os.environ, **fields}


@pytest.fixture
def store(bucket):
    server = InfluxServer(InfluxAddress(bucket.url, bucket.org, bucket.bucket, bucket.token), retry_s=5)
    yield make_influx_store(server)
    server.close()


def pdh(path, *, host="WEB1", rows=50, columns=3, start=1_700_000_000, seed=1, bias=-60):
    """A PDH-CSV log of random values, some of them missing."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(0, 100, (columns, rows))
    values[rng.uniform(size=values.shape) < 0.05] = np.nan
    names = [rf"\\{host}\Process(p{at})\% Processor Time" for at in range(columns)]
    times = (start + 10 * np.arange(rows)) * 10**9
    write_pdh(path, WallClock("W. Europe Standard Time", bias), times, list(zip(names, values, strict=True)))
    return path


def content(store):
    """Everything in a store, to compare."""
    result = store.samples.series(*EVER).series
    read = store.samples.read(result, *EVER)
    return {
        (series.host, series.field, series.tags): list(
            zip(samples.times.tolist(), samples.values.tolist(), strict=True)
        )
        for series, samples in zip(result, read, strict=True)
    }


def reviewed(plimsoll, source, *options):
    """The JSON of a review, without what is the source's own: its name and labels."""
    outcome = plimsoll("review", *source, "--json", "-", *options)
    assert outcome.status == 0, outcome.err
    document = json.loads(outcome.out)
    for name in ("name", "labels"):
        document["run"].pop(name)
    return document


@pytest.mark.parametrize(
    "example",
    ["messaging/trouble", "file-server/trouble", "openldap/trouble", "dynamic-directory/healthy"],
)
def test_a_run_is_reviewed_from_the_store_as_from_its_logs(plimsoll, environment, request, example):
    folder = request.config.rootpath / "examples" / example
    if not folder.is_dir():
        pytest.fail(f"{folder} is not there")
    assert plimsoll("ingest", folder, "--run", "night").status == 0
    assert reviewed(plimsoll, ["run:night"]) == reviewed(plimsoll, [folder])


def test_every_real_log_is_reviewed_from_the_store_as_from_its_file(plimsoll, environment, real_logs):
    for path in sorted(real_logs.iterdir()):
        if path.suffix == ".md" or path.stat().st_size > 500_000:  # these take most of the time, and are as others
            continue
        zone = ("--zone", "Europe/Berlin")
        assert plimsoll("ingest", path, "--run", path.name, *zone).status == 0, path
        assert reviewed(plimsoll, [f"run:{path.name}"], *zone) == reviewed(plimsoll, [path], *zone), path


def test_a_run_keeps_what_its_settings_said(plimsoll, environment, tmp_path):
    log = pdh(tmp_path / "a.csv")
    (tmp_path / "plimsoll.toml").write_text(
        '[run]\nlabels = {memory = "8GB"}\n'
        '[[run.phases]]\nname = "steady"\nfrom = 2023-11-14T22:15:00Z\nto = 2023-11-14T22:20:00Z\n'
        '[hosts.WEB1.rules.cpu-busy]\nhealthy = "< 10"\nreason = "a small machine"\n'
    )
    plimsoll("ingest", log, "--run", "night", "--label", "logon_rate=36")
    shown = json.loads(plimsoll("runs", "show", "night", "--json", "-").out)
    assert shown["labels"] == {"memory": "8GB", "logon_rate": "36"}
    assert [load["name"] for load in shown["phases"]] == ["steady"]
    assert reviewed(plimsoll, ["run:night"]) == reviewed(plimsoll, [log])


def test_loading_again_changes_nothing(plimsoll, environment, store, tmp_path):
    log = pdh(tmp_path / "a.csv")
    plimsoll("ingest", log, "--run", "night")
    before = content(store)
    again = plimsoll("ingest", log, "--run", "night")
    assert (again.status, content(store)) == (0, before)
    assert "already" in again.out


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda folder: pdh(folder / "a.csv", seed=2), "of other files"),
        (lambda folder: pdh(folder / "b.csv", host="DB1"), "of other files"),
    ],
)
def test_a_name_is_one_runs(plimsoll, environment, store, tmp_path, change, says):
    pdh(tmp_path / "a.csv")
    plimsoll("ingest", tmp_path, "--run", "night")
    before = content(store)
    change(tmp_path)
    again = plimsoll("ingest", tmp_path, "--run", "night")
    assert again.status == 2
    assert says in again.err
    assert content(store) == before


def without_a_zone(path):
    times = 1_700_000_000_000_000_000 + np.arange(3) * 10**10
    write_pdh(path, None, times, [(r"\\WEB1\Memory\Pages/sec", np.ones(3))])


def test_a_log_read_in_another_zone_is_told_apart(plimsoll, environment, tmp_path):
    without_a_zone(tmp_path / "a.csv")
    plimsoll("ingest", tmp_path / "a.csv", "--run", "night", "--zone", "Europe/Berlin")
    again = plimsoll("ingest", tmp_path / "a.csv", "--run", "night", "--zone", "UTC")
    assert again.status == 2
    assert "another zone" in again.err


def test_a_log_without_a_zone_is_refused_until_it_is_named(plimsoll, environment, store, tmp_path):
    without_a_zone(tmp_path / "a.csv")
    refused = plimsoll("ingest", tmp_path / "a.csv", "--run", "night")
    assert refused.status == 2
    assert "--zone" in refused.err
    assert store.runs.summaries() == []
    assert plimsoll("ingest", tmp_path / "a.csv", "--run", "night", "--zone", "+02:00").status == 0


def test_other_data_of_the_host_and_time_is_not_loaded_over(plimsoll, environment, store, tmp_path):
    item, other = pdh(tmp_path / "a.csv"), pdh(tmp_path / "b.csv", host="web1", seed=2, start=1_700_000_100)
    plimsoll("ingest", item, "--run", "first")
    before = content(store)
    refused = plimsoll("ingest", other, "--run", "second")
    assert refused.status == 2
    assert 'run "first"' in refused.err
    assert "--merge" in refused.err
    assert content(store) == before
    merged = plimsoll("ingest", other, "--run", "second", "--merge")
    assert merged.status == 0
    assert "already" in merged.err


def test_live_data_of_the_host_and_time_is_not_loaded_over(plimsoll, environment, bucket, tmp_path):
    agent = SureServer(InfluxAddress(bucket.url, bucket.org, bucket.bucket, bucket.telegraf_token))
    agent.post(b"win_mem,host=Web1,objectname=Memory Pages_persec=1 1700000050000000000\n")
    refused = plimsoll("ingest", pdh(tmp_path / "a.csv"), "--run", "night")
    assert refused.status == 2
    assert "live collection" in refused.err


def test_deleting_a_run_removes_exactly_what_it_wrote(plimsoll, environment, store, tmp_path):
    item, other = pdh(tmp_path / "a.csv"), pdh(tmp_path / "b.csv", seed=2, start=1_700_000_100, columns=5)
    far = pdh(tmp_path / "c.csv", host="DB1")
    for name, log in (("far", far), ("second", other)):
        plimsoll("ingest", log, "--run", name)
    before = content(store)
    plimsoll("ingest", item, "--run", "first", "--merge")
    assert content(store) != before
    assert plimsoll("runs", "delete", "first").status == 0
    assert content(store) == before
    plimsoll("runs", "delete", "second")
    assert {host for host, _, _ in content(store)} == {"DB1"}
    plimsoll("runs", "delete", "far")
    assert (content(store), store.runs.summaries()) == ({}, [])


def test_deleting_what_is_not_there_is_told(plimsoll, environment, tmp_path):
    plimsoll("ingest", pdh(tmp_path / "a.csv"), "--run", "night")
    missing = plimsoll("runs", "delete", "day")
    assert missing.status == 2
    assert "night" in missing.err
    assert plimsoll("review", "run:day").status == 2


def test_rotated_logs_are_one_run_and_the_first_counts_where_they_overlap(plimsoll, environment, tmp_path):
    pdh(tmp_path / "a.csv")
    pdh(tmp_path / "b.csv", start=1_700_000_400, seed=2)
    plimsoll("ingest", tmp_path, "--run", "night")
    ours, files = reviewed(plimsoll, ["run:night"]), reviewed(plimsoll, [tmp_path])
    assert ours["rules"] == files["rules"]
    assert ours["statistics"] == files["statistics"]
    assert ours["remarks"] == files["remarks"]


def test_rows_of_the_same_time_are_read_back_as_one(plimsoll, environment, store, tmp_path):
    text = pdh(tmp_path / "a.csv", rows=4).read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join([*text[:3], text[2], *text[3:]]) + "\n")
    assert plimsoll("ingest", tmp_path / "a.csv", "--run", "night").status == 0
    (run,) = store.runs.summaries()
    assert run.complete
    ours, files = reviewed(plimsoll, ["run:night"]), reviewed(plimsoll, [tmp_path / "a.csv"])
    assert (ours["rules"], ours["statistics"]) == (files["rules"], files["statistics"])


def test_counters_the_store_could_not_tell_apart_are_refused(plimsoll, environment, store, tmp_path):
    names = [rf"\\WEB1\LogicalDisk({instance})\% Free Space" for instance in ("C:", "C:\\")]
    times = 1_700_000_000_000_000_000 + np.arange(3) * 10**10
    clock = WallClock("UTC", 0)
    write_pdh(tmp_path / "a.csv", clock, times, [(name, np.full(3, at)) for at, name in enumerate(names)])
    refused = plimsoll("ingest", tmp_path / "a.csv", "--run", "night")
    assert refused.status == 2
    assert all(name.removeprefix(r"\\WEB1") in refused.err for name in names)
    assert (store.runs.summaries(), content(store)) == ([], {})


def test_an_instance_that_is_a_backslash_is_read_back(plimsoll, environment, store, tmp_path):
    names = [r"\\WEB1\LogicalDisk(\)\% Free Space", r"\\WEB1\LogicalDisk\% Free Space"]
    times = 1_700_000_000_000_000_000 + np.arange(3) * 10**10
    columns = [(name, np.full(3, float(at))) for at, name in enumerate(names)]
    write_pdh(tmp_path / "a.csv", WallClock("UTC", 0), times, columns)
    assert plimsoll("ingest", tmp_path / "a.csv", "--run", "night").status == 0
    run = store.runs.get("night")
    assert run is not None
    read = store.samples.read(run.recordings[0].series, *EVER)
    assert [samples.values.tolist() for samples in read] == [[0.0] * 3, [1.0] * 3]
    assert plimsoll("runs", "delete", "night").status == 0
    assert content(store) == {}


def test_a_log_older_than_the_store_keeps_is_refused(plimsoll, environment, bucket, monkeypatch, tmp_path):
    kept = bucket.fresh(retention_s=86400)
    monkeypatch.setenv("INFLUX_BUCKET", kept.bucket)
    monkeypatch.setenv("INFLUX_TOKEN", kept.token)
    half = int(time.time()) - 86400 - 250
    refused = plimsoll("ingest", pdh(tmp_path / "a.csv", start=half), "--run", "night")
    assert refused.status == 2
    assert "older than" in refused.err
    assert "write what is left with plimsoll convert, and load that" in refused.err
    assert plimsoll("runs", "list", "--json", "-").out.strip() == "[]"


def test_points_the_store_refuses_are_counted_and_told(plimsoll, environment, bucket, tmp_path):
    agent = SureServer(InfluxAddress(bucket.url, bucket.org, bucket.bucket, bucket.token))
    # Of the week the log is of, so that the type of the field is that of its shard.
    agent.post(b"win_proc,host=other Percent_Processor_Time=1i 1700000050000000000\n")
    refused = plimsoll("ingest", pdh(tmp_path / "a.csv", rows=20), "--run", "night")
    assert refused.status == 2
    assert "refused" in refused.err
    (run,) = json.loads(plimsoll("runs", "list", "--json", "-").out)
    assert run["refused"] > 0


@pytest.mark.parametrize(
    ("arguments", "says"), [(["--run", " "], "--run"), (["--run", "x", "--label", "k"], "k=v"), ([], "--run")]
)
def test_a_wrong_call_is_told(plimsoll, environment, tmp_path, arguments, says):
    outcome = plimsoll("ingest", pdh(tmp_path / "a.csv"), *arguments)
    assert outcome.status == 2
    assert says.replace("k=v", "logon_rate=36") in outcome.err


def test_without_a_store_it_is_said_how_to_name_one(plimsoll, monkeypatch, tmp_path):
    for name in ("INFLUX_URL", "INFLUX_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    outcome = plimsoll("runs", "list")
    assert outcome.status == 2
    assert "--store" in outcome.err


def test_a_run_of_which_only_a_part_of_its_row_is_left_can_be_deleted_or_loaded_again(
    plimsoll, environment, bucket, store, tmp_path
):
    log = pdh(tmp_path / "a.csv")
    other = pdh(tmp_path / "b.csv", host="DB1")
    server = SureServer(InfluxAddress(bucket.url, bucket.org, bucket.bucket, bucket.token))
    for again in (["runs", "delete", "night"], ["ingest", log, "--run", "night"]):
        # Earlier versions wrote this when a run was deleted while it was loaded.
        server.post(b"plimsoll_run,run=night loaded=5i,refused=0i 1700000000000000000\n")
        assert "incomplete" in plimsoll("runs", "list").out
        for command in (["runs", "show", "night"], ["review", "run:night"]):
            outcome = plimsoll(*command)
            assert (outcome.status, "incomplete" in outcome.err) == (2, True), command
        assert plimsoll("ingest", other, "--run", "day").status == 0
        assert plimsoll(*again).status == 0
        assert plimsoll("runs", "delete", "day").status == 0
    assert [summary.name for summary in store.runs.summaries() if summary.complete] == ["night"]
    assert plimsoll("runs", "delete", "night").status == 0
    assert (store.runs.summaries(), content(store)) == ([], {})


def test_what_a_store_has_lost_is_said_and_written_again(plimsoll, environment, bucket, store, tmp_path):
    log = pdh(tmp_path / "a.csv")
    plimsoll("ingest", log, "--run", "night")
    before = content(store)
    InfluxServer(InfluxAddress(bucket.url, bucket.org, bucket.bucket, bucket.token)).delete(
        1_700_000_100 * 10**9, 1_700_000_200 * 10**9, '_measurement="win_proc"'
    )
    lost = sum(map(len, before.values())) - sum(map(len, content(store).values()))
    document = reviewed(plimsoll, ["run:night"])
    assert document["verdict"] == "unknown"
    assert f"lacks {lost}" in json.dumps(document)
    again = plimsoll("ingest", log, "--run", "night")
    assert (again.status, content(store)) == (0, before)
    assert f"{lost} of which it had lost" in " ".join(again.out.split())


def _delete_while_loading(plimsoll, loading, log):
    refused = plimsoll("runs", "delete", "night")
    assert refused.status == 2
    assert re.search(r"being loaded by \S+@\S+ \(process \d+\) since \d{4}-.*--force", refused.err)
    assert "being loaded by" in " ".join(plimsoll("runs", "list").out.split())
    assert "being loaded by" in plimsoll("ingest", log, "--run", "night").err
    loading.check()
    assert plimsoll("runs", "delete", "night", "--force").status == 0
    loading.check()


def test_a_run_that_is_being_loaded_is_deleted_only_by_force(plimsoll, environment, store, monkeypatch, tmp_path):
    monkeypatch.setattr(lease, "BEAT_S", 0.2)
    plimsoll("ingest", pdh(tmp_path / "a.csv"), "--run", "night")
    with (
        pytest.raises(LeaseEnded, match="took it over"),
        hold_lease(store.runs.claims, "night", Work.LOADING, notify=print) as loading,
    ):
        _delete_while_loading(plimsoll, loading, tmp_path / "a.csv")
    assert (store.runs.summaries(), content(store), store.runs.claims.current(60)) == ([], {}, [])


# In batches small enough for a small log to have many.
CALL = "import plimsoll.ingest.runs.load; plimsoll.ingest.runs.load.VALUES_AT_ONCE = 2_500; from plimsoll.cli.cli import main; main()"


def begin(environment, log):
    command = [sys.executable, "-c", CALL, "ingest", str(log), "--run", "night"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_killed_as_soon_as_it_is_listed_and_run_again_it_is_as_if_undisturbed(
    plimsoll, environment, bucket, store, monkeypatch, tmp_path
):
    """The request at which it ends makes no difference (test_run_life.py); here a whole process is killed."""
    log = pdh(tmp_path / "a.csv", rows=500, columns=50)
    undisturbed = plimsoll("ingest", log, "--run", "night")
    assert undisturbed.status == 0, undisturbed.err
    expected, runs = content(store), [replace(summary, generation="") for summary in store.runs.summaries()]
    assert sum(map(len, expected.values())) == runs[0].values > 22_000
    fresh = bucket.fresh()
    fields = {"INFLUX_BUCKET": fresh.bucket, "INFLUX_TOKEN": fresh.token}
    server = InfluxServer(InfluxAddress(fresh.url, fresh.org, fresh.bucket, fresh.token))
    process = begin({**environment, **fields}, log)
    while not make_influx_store(server).runs.summaries():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.kill()
    process.communicate()
    for name, value in fields.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(lease, "LIFE_S", 3.0)  # nobody beats for the one that was killed
    again = plimsoll("ingest", log, "--run", "night")
    assert again.status == 0, again.err
    assert [replace(summary, generation="") for summary in make_influx_store(server).runs.summaries()] == runs
    assert content(make_influx_store(server)) == expected
    server.close()


def test_a_server_that_stops_midway_is_waited_for(tmp_path, monkeypatch):
    built("influxd")
    database = InfluxDB(tmp_path / "influx")
    monkeypatch.setenv("INFLUX_ORG", "plimsoll")
    log = pdh(tmp_path / "a.csv", rows=600, columns=100)
    with database as result:
        fields = {**os.environ, "INFLUX_URL": result["INFLUX_URL"], "INFLUX_TOKEN": result["INFLUX_TOKEN_INGEST"]}
        address = InfluxAddress(
            result["INFLUX_URL"], result["INFLUX_ORG"], result["INFLUX_BUCKET"], result["INFLUX_TOKEN_INGEST"]
        )
        server = InfluxServer(address)
        process = begin(fields, log)
        while not any(0 < summary.loaded < summary.values for summary in make_influx_store(server).runs.summaries()):
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        database.stop()
        time.sleep(3)
        assert process.poll() is None
        database.start()
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        assert "trying again" in err
        stopped = content(make_influx_store(server))
        (run,) = make_influx_store(server).runs.summaries()
        assert run.complete
        assert run.values == sum(map(len, stopped.values()))
        server.close()
    frame = pl.read_csv(log, has_header=True, null_values=[" "])
    assert run.values == sum(frame[name].count() for name in frame.columns[1:])
