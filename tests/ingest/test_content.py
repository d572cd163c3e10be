"""Compressed logs, archives and standard input are read as the logs they hold."""

import bz2
import gzip
import hashlib
import io
import lzma
import sys
import tarfile
import tracemalloc
import zipfile
from functools import cache
from pathlib import Path

import pytest

from plimsoll.ingest.files import open as open_module
from plimsoll.ingest.files.open import open_logs
from plimsoll.ingest.read import read_log, read_logs
from plimsoll.model.errors import Unusable

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
    path.write_bytes(pack(bytes(20_000_000)))
    with (
        open_logs(path, most=10_000_000) as contents,
        pytest.raises(Unusable, match=r"unpacks to more than 0\.00931 GB"),
    ):
        list(contents)


def test_a_zip_bomb(tmp_path):
    path = zipped(tmp_path / "bomb.zip", bomb=bytes(50_000_000))
    with open_logs(path, most=10_000_000) as contents, pytest.raises(Unusable, match="bomb: unpacks to more than"):
        list(contents)


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress, bz2.compress, lzma.compress])
def test_a_damaged_file_is_refused(tmp_path, pack):
    path = tmp_path / "log.gz"
    path.write_bytes(pack(LOG.read_bytes() * 50)[:-20])
    with pytest.raises(Unusable, match=r"log\.gz: is damaged"):
        read_log(path)


def alone(data):
    return lzma.compress(data, format=lzma.FORMAT_ALONE)


def in_two(pack):
    """The log in two streams."""
    data = LOG.read_bytes()
    half = data.index(b"\n", len(data) // 2) + 1
    return pack(data[:half]), pack(data[half:])


@pytest.mark.parametrize("between", [b"", bytes(4), bytes(20_000)])
@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress, alone])
def test_streams_one_behind_the_other_are_one_log(tmp_path, pack, between):
    path = tmp_path / "log"
    path.write_bytes(b"".join(stream + between for stream in in_two(pack)))
    log = read_log(path)
    assert (len(log.times), log.present) == (5, 11)


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress, bz2.compress, lzma.compress, alone])
def test_rows_of_a_damaged_second_stream_are_not_lost_in_silence(tmp_path, monkeypatch, pack):
    first, second = in_two(pack)
    data = first + bytes([second[0] ^ 0xFF]) + second[1:]
    path = tmp_path / "log"
    for packed in (data, gzip.compress(data)):
        path.write_bytes(packed)
        with pytest.raises(Unusable, match=r"log: is damaged: .+; copy or compress it again$"):
            read_log(path)
    with pytest.raises(Unusable, match=r"in\.zip/log: is damaged: "):
        read_logs(zipped(tmp_path / "in.zip", log=data))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    with pytest.raises(Unusable, match="standard input: is damaged: "):
        read_log(Path("-"))


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress, bz2.compress, lzma.compress, alone])
@pytest.mark.parametrize("behind", [b"garbage that is no stream", b"x", bytes(9_000) + b"x"])
def test_a_file_with_more_behind_its_last_stream_is_refused(tmp_path, pack, behind):
    path = tmp_path / "log"
    path.write_bytes(pack(LOG.read_bytes()) + behind)
    with pytest.raises(Unusable, match=r"log: is damaged: .+; copy or compress it again$"):
        read_log(path)


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress, alone])
def test_a_bomb_in_a_second_stream_is_refused_before_it_goes_off(tmp_path, pack):
    path = tmp_path / "bomb"
    path.write_bytes(pack(LOG.read_bytes()) + pack(bytes(20_000_000)))
    with (
        open_logs(path, most=10_000_000) as contents,
        pytest.raises(Unusable, match=r"unpacks to more than 0\.00931 GB"),
    ):
        list(contents)


@pytest.mark.parametrize(
    ("members", "output"),
    [
        ({}, "is a ZIP archive with no file in it"),
        (
            {"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b""},
            "is a spreadsheet; save its sheet as CSV there and see that no time lost its seconds, or better take the log "
            "as it was recorded",
        ),
        ({"a.txt": b"a", "b.txt": b"b"}, "a.txt: not a log that can be read"),
        ({"a.txt": b"a", "b.txt": b"b", "c.txt": b"c"}, "(2 other files cannot be read either)"),
    ],
)
def test_archives_without_a_log(tmp_path, members, output):
    with pytest.raises(Unusable) as refused:
        read_logs(zipped(tmp_path / "x.zip", **members))
    assert output in str(refused.value)


def test_an_encrypted_archive_is_refused(tmp_path):
    path = zipped(tmp_path / "x.zip", **{"log.csv": LOG.read_bytes()})
    data = bytearray(path.read_bytes())
    for sign, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(sign) + flags] |= 1
    path.write_bytes(data)
    with pytest.raises(Unusable) as refused:
        read_logs(path)
    text = "cannot be unpacked (the archive is encrypted); unpack the archive yourself"
    assert str(refused.value) == f"{path}/log.csv: {text}"


def tar(name, data):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def zip_(name, data):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (tar("in.tar", tar("log.csv", LOG.read_bytes())), "/in.tar/log.csv"),
        (gzip.compress(tar("in.tgz", gzip.compress(tar("log.csv", LOG.read_bytes())))), "/in.tgz/log.csv"),
        (zip_("in.zip", zip_("log.csv", LOG.read_bytes())), "/in.zip/log.csv"),
        (gzip.compress(zip_("log.csv", LOG.read_bytes())), "/log.csv"),
        (lzma.compress(gzip.compress(LOG.read_bytes())), ""),
        (lzma.compress(LOG.read_bytes(), format=lzma.FORMAT_ALONE), ""),
    ],
)
def test_what_is_packed_more_than_once(tmp_path, data, name):
    path = tmp_path / "packed"
    path.write_bytes(data)
    log = read_log(path)
    assert (str(log.path), len(log.times), log.present) == (f"{path}{name}", 5, 11)


def test_what_is_packed_without_end_is_refused(tmp_path):
    data = LOG.read_bytes()
    for _ in range(50):
        data = zip_("in.zip", data)
    path = tmp_path / "x.zip"
    path.write_bytes(data)
    with pytest.raises(Unusable, match=r"in\.zip: is packed more than 4 times over; unpack it yourself$"):
        read_logs(path)


def test_all_that_is_in_an_archive_has_a_limit(tmp_path):
    path = zipped(tmp_path / "x.zip", **{f"{at}.csv": bytes(1000) for at in range(20)})
    with open_logs(path, most=1000) as contents:
        refused = [content for content in contents if content.refused]
    assert [content.name for content in refused] == [f"{path}/{at}.csv" for at in range(2, 20)]


@pytest.fixture
def little_room(monkeypatch):
    """What any file may unpack to is 1 MB, so that small bombs do."""
    monkeypatch.setattr(open_module, "_ALWAYS", 1 << 20)


@cache
def a_bomb(pack):
    return pack(bytes(50_000_000))


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress, bz2.compress, lzma.compress, alone])
@pytest.mark.parametrize("packed_as", ["log.csv", "in.zip", "in.zip in a zip", "in.tar"])
def test_a_bomb_is_refused_in_little_memory(tmp_path, little_room, pack, packed_as):
    data = a_bomb(pack)
    if packed_as == "in.tar":
        data = tar("log.csv", data)
    elif packed_as != "log.csv":
        data = zip_("log.csv", data)
        data = data if packed_as == "in.zip" else zip_("in.zip", data)
    path = tmp_path / "bomb"
    path.write_bytes(data)
    tracemalloc.start()
    with pytest.raises(
        Unusable, match="unpacks to more than 100 times its size, which no log does; unpack it yourself"
    ):
        read_logs(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30_000_000


def test_a_log_that_packs_well_is_read(tmp_path, little_room):
    header, row = LOG.read_bytes().splitlines(keepends=True)[:2]
    rows = (row.replace(b"10:00:0", b"1%d:%02d:%d" % (at // 360, at // 6 % 60, at % 6)) for at in range(3_600))
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(b"".join([header, *rows])))
    assert len(read_log(path).times) == 3_600


def test_logs_beside_a_bomb_are_read(tmp_path, little_room):
    path = zipped(tmp_path / "x.zip", **{"0.csv": LOG.read_bytes(), "bomb.csv": bytes(50_000_000)})
    ((log,), (remark,)) = read_logs(path)
    assert (str(log.path), remark.file) == (f"{path}/0.csv", f"{path}/bomb.csv")


def test_an_archive_of_very_many_files_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(open_module, "_MOST_FILES", 20)
    logs = {f"{at}.csv": LOG.read_bytes() for at in range(21)}
    several = io.BytesIO()
    with tarfile.open(fileobj=several, mode="w") as archive:
        for name in logs:
            archive.addfile(tarfile.TarInfo(name))
    (tmp_path / "x.tar").write_bytes(several.getvalue())
    for path in (zipped(tmp_path / "x.zip", **logs), tmp_path / "x.tar"):
        with pytest.raises(Unusable, match="holds more than 20 files; unpack it and name the logs"):
            read_logs(path)


def test_a_size_that_an_archive_declares_is_not_believed(tmp_path):
    data = LOG.read_bytes()
    path = zipped(tmp_path / "x.zip", **{"log.csv": data})
    honest, size = path.read_bytes(), len(data).to_bytes(4, "little")
    path.write_bytes(honest.replace(size, (4_000_000_000).to_bytes(4, "little")))
    assert len(read_log(path).times) == 5
    path.write_bytes(honest.replace(size, (100).to_bytes(4, "little")))
    with pytest.raises(Unusable, match="is damaged: Bad CRC-32"):
        read_logs(path)


def test_a_mapped_archive_is_read_without_a_copy(tmp_path):
    path = zipped(tmp_path / "x.zip", **{"log.csv": LOG.read_bytes()})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr("__MACOSX/big", bytes(50_000_000))
    tracemalloc.start()
    assert len(read_log(path).times) == 5
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


def test_an_old_archive_without_a_sign(tmp_path):
    data = bytearray(tar("log.csv", LOG.read_bytes()))
    data[257:265] = bytes(8)
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    path = tmp_path / "x.tar"
    path.write_bytes(data)
    assert str(read_log(path).path) == f"{path}/log.csv"


def test_an_archive_that_breaks_off_between_two_files_is_told(tmp_path):
    path = tmp_path / "x.tar"
    data = LOG.read_bytes().ljust(1024)
    path.write_bytes(tar("log.csv", data)[: 512 + len(data)])
    ((log,), (remark,)) = read_logs(path)
    assert str(log.path) == f"{path}/log.csv"
    assert "breaks off before its end" in str(remark)


def test_a_damaged_file_in_an_archive_does_not_keep_the_others_from_being_read(tmp_path):
    path = zipped(tmp_path / "x.zip", **{"1.csv": LOG.read_bytes(), "2.csv": LOG.read_bytes()})
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(data)
    ((log,), (remark,)) = read_logs(path)
    assert str(log.path) == f"{path}/2.csv"
    assert str(remark).startswith(f"{path}/1.csv: is damaged: ")


def test_folders_as_some_of_windows_write_them_are_no_files(tmp_path):
    path = zipped(tmp_path / "x.zip", **{"logs\\": b"", "logs\\log.csv": LOG.read_bytes()})
    ((log,), remarks) = read_logs(path)
    assert (log.present, remarks) == (11, [])


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="Windows has no such device")
def test_what_flows_without_end_is_refused():
    with pytest.raises(Unusable, match=r"/dev/zero: gives more than 0\.00931 GB; write it to a file"):
        open_logs(Path("/dev/zero"), most=10_000_000).__enter__()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
def test_what_is_wrong_is_told_in_one_line_whatever_the_name(tmp_path):
    path = tmp_path / "a\nb.csv"
    path.write_bytes(b"hello")
    with pytest.raises(Unusable) as refused:
        read_log(path)
    assert str(refused.value).startswith(f"{tmp_path}/a\\nb.csv: not a log")
    assert "\n" not in str(refused.value)


def tarred(path, name="log.csv", kind=tarfile.REGTYPE, data=b"", pax=None):
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo(name)
        entry.type, entry.size, entry.linkname, entry.pax_headers = kind, len(data), "elsewhere", pax or {}
        archive.addfile(entry, io.BytesIO(data))
    return path


def test_a_tar_of_links_says_where_they_lead(tmp_path):
    path = tarred(tmp_path / "x.tar", kind=tarfile.SYMTYPE)
    with pytest.raises(Unusable, match=r"x\.tar.log\.csv: cannot be unpacked \(it is a link to elsewhere\)"):
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


def test_files_of_an_archive_have_the_same_names_in_all_that_is_said(tmp_path):
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as archive:
        for name, data in {"a.csv": LOG.read_bytes(), "b.csv": b"", "c.csv": b"hello", "d.gz": b"\x1f\x8b"}.items():
            entry = tarfile.TarInfo(f"./{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    ((log,), remarks) = read_logs(path)
    assert [log.path, *(Path(str(remark).partition(": ")[0]) for remark in remarks)] == [
        path / name for name in ("a.csv", "b.csv", "c.csv", "d.gz")
    ]
    assert not any("/./" in str(remark) for remark in remarks)


def test_the_name_of_a_file_in_an_archive_stays_in_its_line(tmp_path):
    path = tarred(tmp_path / "x.tar", name="a\nb.csv", data=LOG.read_bytes())
    ((log,), _) = read_logs(path)
    assert str(log.path) == f"{path}/a\\nb.csv"


@pytest.mark.parametrize("name", ["~/log.csv", "file:log.csv", "log[1].csv", "$HOME.csv"])
def test_a_name_is_nothing_but_a_name(name, tmp_path, monkeypatch):
    """Polars treats some file names specially."""
    for home, value in (("home", 111), ("here", 222)):
        log = tmp_path / home / ("log.csv" if home == "home" else name)
        log.parent.mkdir(parents=True)
        log.write_text(
            f'"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\System\\Threads"\n"01/15/2008 10:00:00.000","{value}"\n', newline=""
        )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "here")
    assert read_log(Path(name)).columns[0].tolist() == [222]
