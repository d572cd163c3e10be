"""Runs in a folder that several computers share: interruptions, concurrent writers, and damage."""

import errno
import itertools
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from plimsoll.ingest.runs import load as load_module
from plimsoll.ingest.runs.load import load, unload_run
from plimsoll.ingest.runs.read_run import read_run
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.store import lease
from plimsoll.store.folders import files
from plimsoll.store.folders.runs import MARK, RunFolders, make_store_of_runs
from plimsoll.store.protocol import StoreFull

START = 1_700_000_000 * SECOND
EVER = (0, 2**62)
ROWS = 6


def cpu(host="WEB1"):
    return Series(host, "win_cpu", (("instance", "_Total"),), "Percent_Processor_Time")


def a_log(host="WEB1", value=1.0):
    times = START + np.arange(ROWS, dtype=np.int64) * 10 * SECOND
    column = np.full(ROWS, float(value))
    return Log(Path("night.csv"), "PDH-CSV", times, (column,), (cpu(host),), Zone.parse("UTC"), sha256="ab")


def loaded(store, name="night", host="WEB1", value=1.0):
    log = a_log(host, value)
    return load(make_store_of_runs(store), StoredRun(Run(name), (Recording.of(log, "ab"),)), [log])


def kept(store, host="WEB1"):
    (result,) = store.samples().read([cpu(host)], *EVER)
    return len(result.times)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(load_module, "VALUES_AT_ONCE", 3)  # so that a run has several files
    monkeypatch.setattr(os, "fsync", lambda _: None)  # which takes long on a machine with other work
    RunFolders.open(tmp_path / "runs", make=True)
    return tmp_path / "runs"


class Killed(BaseException):
    """The command was killed."""


def killed_at(step, monkeypatch, work):
    """Work, ended before or after some change of the folder; false if it has fewer."""
    changes = itertools.count()
    with monkeypatch.context() as patch:

        def ending(change):
            def changed(*arguments):
                if next(changes) == step:
                    raise Killed
                change(*arguments)
                if next(changes) == step:
                    raise Killed

            return changed

        for item in (files.write, files.move, files.remove):
            patch.setattr(files, item.__name__, ending(item))
        try:
            work()
        except Killed:
            return True
    return False


def test_a_load_that_is_cut_off_is_not_read_and_is_continued(folder, monkeypatch):
    monkeypatch.setattr(lease, "LIFE_S", 0.05)
    for step in itertools.count():
        was_killed = killed_at(step, monkeypatch, lambda: loaded(RunFolders.open(folder)))
        other = RunFolders.open(folder)
        (listed,) = other.summaries() or [None]
        assert kept(other) == (ROWS if listed and listed.complete else 0)
        if listed and not listed.complete:
            assert "it was loaded in part" in str(read_run(other, "night").remarks)
        for left in folder.glob(".????????????????????????????????"):
            os.utime(left, (0, 0))  # as if it had been an hour ago
        loaded(RunFolders.open(folder))
        assert [summary.complete for summary in other.summaries()] == [True]
        assert kept(RunFolders.open(folder)) == ROWS
        assert not read_run(RunFolders.open(folder), "night").remarks
        unload_run(RunFolders.open(folder), "night")
        assert {path.name for path in folder.iterdir()} <= {MARK, ".claims"}
        if not was_killed:
            assert step > 15
            return


def test_a_deletion_that_is_cut_off_leaves_all_or_nothing_to_read(folder, monkeypatch):
    monkeypatch.setattr(lease, "LIFE_S", 0.05)
    for step in itertools.count():
        loaded(RunFolders.open(folder))
        was_killed = killed_at(step, monkeypatch, lambda: unload_run(RunFolders.open(folder), "night"))
        other = RunFolders.open(folder)
        (listed,) = other.summaries() or [None]
        assert kept(other) == (ROWS if listed and listed.complete else 0)
        loaded(RunFolders.open(folder))
        assert kept(RunFolders.open(folder)) == ROWS
        unload_run(RunFolders.open(folder), "night")
        assert (other.summaries(), kept(RunFolders.open(folder))) == ([], 0)
        assert {path.name for path in folder.iterdir()} <= {MARK, ".claims"}
        if not was_killed:
            assert step > 5
            return


def test_computers_that_write_at_once_do_not_damage_one_another(folder):
    refused = []

    def work(host):
        try:
            loaded(RunFolders.open(folder), name=f"of {host}", host=host)
        except Unusable as error:
            refused.append(str(error))

    at_once = [threading.Thread(target=work, args=[f"WEB{at % 3}"]) for at in range(6)]
    for item in at_once:
        item.start()
    for item in at_once:
        item.join()
    assert all("is being loaded by" in entry for entry in refused)
    store = RunFolders.open(folder)
    assert sorted((summary.name, summary.complete, summary.loaded) for summary in store.summaries()) == [
        (f"of WEB{at}", True, ROWS) for at in range(3)
    ]
    assert [kept(store, f"WEB{at}") for at in range(3)] == [ROWS] * 3


def test_what_is_deleted_while_it_is_loaded_does_not_come_back(folder):
    store = RunFolders.open(folder)
    run = store.save(StoredRun(Run("night"), (Recording.of(a_log(), "ab"),)))
    writing = store.write(run, [a_log(), a_log()])
    next(writing)
    RunFolders.open(folder).forget(run)
    with pytest.raises(Unusable, match="No such file"):
        next(writing)
    assert [path.name for path in folder.iterdir()] == [MARK]


@pytest.mark.parametrize(
    "name", ["a/b", "..", ".hidden", "CON.x", "ends.", 'a<b>:"|?*', "100 % ü 日本", "日" * 200, "x" * 200, "Night"]
)
def test_any_name_is_that_of_a_folder(folder, name):
    store = RunFolders.open(folder)
    loaded(store, name)
    assert ([summary.name for summary in store.summaries()], kept(store)) == ([name], ROWS)
    (result,) = (path for path in folder.iterdir() if path.name not in (MARK, ".claims"))
    assert (result / "run.json").is_file()
    assert not result.name.startswith(".")
    assert len(result.name.encode()) <= 255
    assert not set(result.name) & set('<>:"/\\|?*')


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_damage_is_told_and_never_read(folder):
    loaded(RunFolders.open(folder))
    first, *_ = sorted((folder / "night").glob("*.parquet"))
    flip(first)
    with pytest.raises(Unusable, match="is damaged"):
        kept(RunFolders.open(folder))
    first.unlink()
    assert "lacks 3 of 6 values" in str(read_run(RunFolders.open(folder), "night").remarks)
    flip(folder / "night" / "manifest")
    with pytest.raises(Unusable, match="manifest: cannot be read"):
        RunFolders.open(folder).get("night")
    (folder / "night" / "run.json").write_text("{")
    with pytest.raises(Unusable, match=r"run\.json: is not what Plimsoll writes"):
        RunFolders.open(folder).summaries()


@pytest.mark.parametrize("written", ['{"version": 2}', '{"version": "x"}', "[]", ""])
def test_a_folder_of_another_version_is_refused(folder, written):
    (folder / MARK).write_text(written)
    with pytest.raises(Unusable, match=MARK):
        RunFolders.open(folder)


def test_a_full_disk_is_told(folder, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreFull, match="make room"):
        loaded(RunFolders.open(folder))
