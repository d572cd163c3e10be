"""Compressed logs, archives and standard input are read as the logs they hold."""

import bz2
import gzip
import hashlib
import io
import lzma
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from ingest.content import opened
from ingest.read import read_log, read_logs
from model.errors import Unusable

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LOG = Path(__file__).parent / "cases" / "pdh-csv" / "blank_in_mid_file" / "input.csv"
PACKERS = {
    "log.csv.gz": gzip.compress,
    "log.csv.zst": zstd.compress,
    "log.csv.bz2": bz2.compress,
    "log.csv.xz": lzma.compress,
    "no-ending": gzip.compress,
}


@pytest.mark.parametrize("name", PACKERS)
def test_a_compressed_log(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(PACKERS[name](LOG.read_bytes()))
    log = read_log(path)
    assert (log.path, len(log.times), log.present) == (path, 5, 11)


def zipped(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_an_archive_of_several_logs(tmp_path):
    path = zipped(
        tmp_path / "run.zip",
        **{"a/1.csv": LOG.read_bytes(), "2.csv.gz": gzip.compress(LOG.read_bytes()), "notes.txt": b"hello"},
    )
    logs, remarks = read_logs(path)
    assert [(str(log.path), log.file) for log in logs] == [(f"{path}/a/1.csv", path), (f"{path}/2.csv.gz", path)]
    (remark,) = remarks
    assert "notes.txt: not a log that can be read" in str(remark)


def test_standard_input(monkeypatch):
    data = LOG.read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    log = read_log(Path("-"))
    assert (str(log.path), len(log.times), log.sha256) == ("standard input", 5, hashlib.sha256(data).hexdigest())


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress, bz2.compress, lzma.compress])
def test_a_bomb_is_refused_before_it_goes_off(tmp_path, pack):
    path = tmp_path / "bomb"
    path.write_bytes(pack(bytes(50_000_000)))
    with opened(path, most=10_000_000) as contents, pytest.raises(Unusable, match=r"unpacks to more than 0\.00931 GB"):
        list(contents)


def test_a_zip_bomb(tmp_path):
    path = zipped(tmp_path / "bomb.zip", bomb=bytes(50_000_000))
    with opened(path, most=10_000_000) as contents, pytest.raises(Unusable, match="bomb: unpacks to more than"):
        list(contents)


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress, bz2.compress, lzma.compress])
def test_a_damaged_file_is_refused(tmp_path, pack):
    path = tmp_path / "log.gz"
    path.write_bytes(pack(LOG.read_bytes() * 50)[:-20])
    with pytest.raises(Unusable, match=r"log\.gz: is damaged"):
        read_log(path)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({}, "is a ZIP archive with no file in it"),
        (
            {"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b""},
            "is a spreadsheet or document; export the log as CSV with relog",
        ),
        ({"a.txt": b"a", "b.txt": b"b"}, "a.txt: not a log that can be read"),
    ],
)
def test_archives_without_a_log(tmp_path, members, said):
    with pytest.raises(Unusable) as refused:
        read_logs(zipped(tmp_path / "x.zip", **members))
    assert said in str(refused.value)


def test_an_encrypted_archive_is_refused(tmp_path):
    path = zipped(tmp_path / "x.zip", **{"log.csv": LOG.read_bytes()})
    data = bytearray(path.read_bytes())
    for sign, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(sign) + flags] |= 1
    path.write_bytes(data)
    with pytest.raises(Unusable) as refused:
        read_logs(path)
    said = "cannot be unpacked (the archive is encrypted); unpack the archive yourself"
    assert str(refused.value) == f"{path}/log.csv: {said}"


def tarred(path, name="log.csv", kind=tarfile.REGTYPE, data=b"", pax=None):
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo(name)
        entry.type, entry.size, entry.linkname, entry.pax_headers = kind, len(data), "elsewhere", pax or {}
        archive.addfile(entry, io.BytesIO(data))
    return path


def test_a_tar_of_links_holds_no_file(tmp_path):
    path = tarred(tmp_path / "x.tar", kind=tarfile.SYMTYPE)
    with pytest.raises(Unusable, match=r"x\.tar: is a TAR archive with no file in it$"):
        read_logs(path)


def with_a_long_record(path):
    """A PAX header whose record says that it is longer than any file."""
    data = tarred(path, pax={"comment": "x" * 40}).read_bytes()
    record = data[512 : data.index(b"\n", 512) + 1]
    path.write_bytes(data.replace(record, (b"9" * 30 + b" comment=x").ljust(len(record) - 1, b"x") + b"\n"))


@pytest.mark.parametrize(
    "damaged",
    [
        with_a_long_record,
        lambda path: tarred(path, pax={"GNU.sparse.map": "a,b"}),
        lambda path: path.write_bytes(zipped(path, Q=b"").read_bytes().replace(b"Q", b"\0")),
    ],
    ids=["a record without end", "a map without numbers", "a name without letters"],
)
def test_headers_that_make_no_sense_are_refused(tmp_path, damaged):
    path = tmp_path / "x"
    damaged(path)
    with pytest.raises(Unusable) as refused:
        read_logs(path)
    assert len(str(refused.value).splitlines()) == 1


def test_the_name_of_a_file_in_an_archive_stays_in_its_line(tmp_path):
    path = tarred(tmp_path / "x.tar", name="a\nb.csv", data=LOG.read_bytes())
    ((log,), _) = read_logs(path)
    assert str(log.path) == f"{path}/a\ufffdb.csv"
