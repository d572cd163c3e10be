"""Archives of Performance Co-Pilot, which its own program pmrep prints."""

import os
import stat
import sys

import pytest

from plimsoll.ingest.read import LogFile, NothingRead, read_files
from plimsoll.ingest.reading import ReadOptions
from plimsoll.model.remark import Kind

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="PCP is a program of Unix")
PRINTED = (
    'Time,"kernel.all.load-1 minute","disk.dev.read-sda"\n2026-11-28T17:56:02,,\n'
    "2026-11-28T17:56:17,0.5,3.000\n2026-11-28T17:56:32,0.7,5.000\n"
)


def label(volume):
    return (
        (132).to_bytes(4, "big")
        + b"P\x05&\x02"
        + bytes(12)
        + volume.to_bytes(4, "big", signed=True)
        + b"web01".ljust(108, b"\0")
    )


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """The three files of an archive, and a pmrep that prints PRINTED if it is asked for the archive in UTC."""
    folder, programs = tmp_path / "archive", tmp_path / "bin"
    for name in (folder, programs):
        name.mkdir()
    for suffix, volume in (("0", 0), ("index", -1), ("meta", -2)):
        (folder / f"20261128.{suffix}").write_bytes(label(volume))
    program = programs / "pmrep"
    asked = f'case "$*" in *"-a {folder}/20261128 "*"-Z UTC"*kernel.all.load*) ;; *) exit 1;; esac'
    program.write_text(f"#!/bin/sh\n{asked}\ncat <<END\n{PRINTED}END\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}/bin{os.pathsep}/usr/bin")
    return folder


def read(folder):
    return read_files([LogFile(path, in_folder=True) for path in sorted(folder.iterdir())], ReadOptions())


def test_an_archive_is_read_once_in_utc_and_under_its_host(archive):
    found = read(archive)
    (log,) = found.logs
    assert (log.format, log.hosts, len(log.times), log.zone.is_specified) == ("PCP-archive", ("web01",), 3, True)
    values = {series.field: log.column(at)[1:].tolist() for at, series in enumerate(log.series)}
    assert values == {"ldavg-1": [0.5, 0.7], "r_per_s": [3.0, 5.0]}
    assert {remark.kind for remark in found.remarks} == {Kind.SKIPPED}


@pytest.mark.parametrize("lost", ["pmrep", "meta", "0"])
def test_an_archive_that_cannot_be_read_is_a_recording(archive, monkeypatch, lost):
    if lost == "pmrep":
        monkeypatch.setenv("PATH", "")
    else:
        (archive / f"20261128.{lost}").unlink()
    with pytest.raises(NothingRead) as error:
        read(archive)
    unread = [remark.text for remark in error.value.remarks if remark.kind == Kind.UNREAD]
    assert unread
    assert all(("pmrep" if lost == "pmrep" else "copy them, too") in text for text in unread)


def test_a_file_of_an_archive_under_another_name_is_refused_with_what_to_do(archive):
    (archive / "20261128.0").rename(archive / "copy.bin")
    with pytest.raises(NothingRead) as error:
        read(archive)
    assert any("unpack all its files" in remark.text for remark in error.value.remarks)
