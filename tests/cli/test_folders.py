"""Folders and archives of logs: an unreadable log is told apart from a file that is no log."""

import bz2
import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from plimsoll.api.inputs import Inputs
from plimsoll.api.review import ReviewSettings, review_inputs

CASES = Path(__file__).parents[1] / "ingest" / "cases"
HEADER = r'"(PDH-CSV 4.0) (UTC)(0)","\\{host}\Processor(_Total)\% Processor Time"'
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
BUFFER = (0x10000).to_bytes(4, "little") + bytes(68) + b"\x02\x00\x01\xc0" + bytes(400)


def a_log(host="WEB01", busy="20", minutes=10):
    """A log of CPU every 10 s."""
    rows = [f'"01/15/2008 10:{s // 60:02}:{s % 60:02}.000","{busy}"' for s in range(0, minutes * 60, 10)]
    return ("\r\n".join([HEADER.format(host=host), *rows]) + "\r\n").encode()


def packed(**members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()


def tarred(**members):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return data.getvalue()


def sheet(text):
    cells = f"<sst><si><t>{text}</t></si></sst>".encode()
    return packed(**{"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b"", "xl/sharedStrings.xml": cells})


def case(name):
    (path,) = (CASES / name).glob("input.*")
    return path.read_bytes()


@pytest.fixture
def said_of(tmp_path):
    """Return the kind and text of a review's remark on a file beside one good log."""

    def call(name, data):
        (tmp_path / "WEB01.csv").write_bytes(a_log())
        (tmp_path / name).write_bytes(data)
        result = review_inputs(Inputs((str(tmp_path),)), ReviewSettings(only=("windows",)))
        assert "WEB01" in result.hosts
        return [(remark.kind.value, str(remark).replace(f"{tmp_path}/", "")) for remark in result.remarks]

    return call


RECORDINGS = {
    "WEB02.blg": BUFFER,
    "WEB02.old": BUFFER,
    "WEB02.log": b"CP\x00\x01" + bytes(100),
    "trace.etl": b"\x00\x20\x00\x00" + b"\x01" * 200,
    "sa15": b"\x96\xd5" + bytes(100),
    "broken.blg": b"\x01\x02\x03\x04" * 50 + bytes(10),
    "first-block-lost.csv": bytes(512) + a_log()[512:],
    "first-block-strange.txt": b"\xfe\xba" * 100 + b"\n" + a_log()[500:],
    "damaged.csv.gz": gzip.compress(a_log())[:-20],
    "damaged.csv.bz2": bz2.compress(a_log())[:-20],
    "damaged.zip": packed(log=a_log())[:-30],
    "damaged-in.zip": packed(**{"a.csv.gz": gzip.compress(a_log())[:-9]}),
    "damaged.tar": tarred(**{"a.csv": a_log(), "b.csv": a_log()})[:700],
    "unpacked.7z": b"7z\xbc\xaf\x27\x1c" + bytes(10),
    "empty.csv": b"",
    "empty.TSV": b"\r\n\r\n",
    "empty.blg": b"",
    "empty.csv.gz": gzip.compress(b""),
    "empty.zip": b"",
    "zeros.csv": bytes(5000),
    "header-only.csv": HEADER.format(host="WEB02").encode() + b"\r\n",
    "header-only.csv.gz": gzip.compress(HEADER.format(host="WEB02").encode() + b"\r\n"),
    "no-values.csv": a_log("WEB02", " "),
    "no-rows.txt": case("sadf/no_rows"),
    "times-refused.csv": a_log("WEB02").replace(b"01/15/2008", b"15.01.08"),
    "nt4.log": b"Reported on \\\\WEB02\r\nDate: 1/15/98\r\nTime: 10:00:00 AM\r\n",
    "rows-without-header.csv": a_log().partition(b"\n")[2],
    "sar.txt": b"Linux 5.10.0 (web2) \t01/15/2024 \t_x86_64_\t(4 CPU)\n\n10:00:00 CPU %user\n",
    "sadf.json": case("none/sadf_as_json"),
    "counters.json": case("none/get_counter_as_objects"),
    "sadf.txt": case("none/sadf_for_scripts"),
    "counters.txt": case("none/get_counter_prints"),
    "readings.txt": case("none/get_counter_prints_readings"),
    "objects.csv": case("none/export_csv_of_sample_sets"),
    "chosen.csv": case("none/export_csv_of_chosen_columns"),
    "renamed.csv": case("none/columns_renamed"),
    "r.csv": case("none/names_changed_by_r"),
    "quotes.csv": case("none/other_quotes"),
    "worker.csv": case("none/column_before_the_time"),
    "apart.csv": case("none/date_and_time_apart"),
    "failed.txt": case("none/recorder_failed"),
    "vmstat.txt": b"procs -----------memory---------- ---swap--\n r  b   swpd   free\n",
    "log.xlsx": sheet(r"\\WEB02\Processor(_Total)\% Processor Time"),
    "protected.xls": OLE,
    "results.csv": b"timeStamp,elapsed,label,responseCode,bytes\n2008/01/15 10:00:00,120,Home,200,5120\n",
    "results.jtl": b"1793606400009,62,Home,500,Error,TG 1-1,text,false,,1200,180,5,5,null,56,0,1\n",
    "telegraf.json": b'{"fields":{"usage_idle":3},"name":"cpu","tags":{"host":"WEB02"},"timestamp":1793610000}\n',
    "telegraf.csv": b"timestamp,name,cpu,host,usage_idle\n1793610000,cpu,cpu-total,WEB02,0.7\n",
    "telegraf-rows.csv": b"1793610000,cpu,cpu-total,WEB02,0.7\n" * 3,
    "telegraf.out": rb"win_cpu,host=WEB02,instance=0\ C: Percent_Idle_Time=3,x=1i 1793610000000000000" + b"\n",
    "node.prom": b"# HELP node_load1 1m load average.\n# TYPE node_load1 gauge\nnode_load1 9.2\n",
    "watched.json": json.dumps(
        [{"time": f"2026-11-02T09:00:{s}Z", "cpu_percent": 99.1} for s in range(10, 20)]
    ).encode(),
    "watched.csv": b"time,host,cpu_percent\n1793610000,WEB02,99\n",
}


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_in_a_folder_that_could_not_be_read_is_unread(said_of, name):
    ((kind, text),) = said_of(name, RECORDINGS[name])
    assert kind == "unread"
    assert text.startswith(name)


BYSTANDERS = {
    "notes.txt": b"Monday: rebooted.\n",
    "README": b"The logs of the run; they begin with (PDH-CSV 4.0), as Windows writes them.\n",
    "empty.txt": b"",
    "empty": b"",
    "zeros.bin": bytes(5000),
    "summary.csv": b"Label,# Samples,Average,90% Line,Error %\nHome,100,120,300,0.00%\n",
    "users.csv": b"user;number;home\nanna;42;\\\\files\\home\\anna\n",
    "users-without-header.csv": b"anna;42;Berlin\nbert;43;Paris\n",
    "accounts.csv": b'#TYPE Selected.System.Object\n"Name","Home"\n"anna","\\\\files\\home\\anna"\n',
    "app.log": b"2008-01-15 10:00:00,123 INFO  Started\n2008-01-15 10:00:01,124 WARN  Slow\n",
    "errors.log": b"Error: Connection refused\n",
    "chart.png": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "chart.svg": b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"></svg>\n',
    "favicon.ico": b"\x00\x00\x01\x00\x01\x00\x10\x10" + bytes(100),
    "driver.exe": b"MZ\x90\x00\x03\x00\x00\x00" + bytes(100),
    "core.bin": b"\x01\x02\x00\x00" * 40,
    "page.htm": b"<html><body>Load test of Monday</body></html>\n",
    "set.xml": case("none/settings_of_a_set"),
    "counters.cfg": case("none/counters_without_values"),
    "plan.docx": packed(**{"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<p/>"}),
    "plan.doc": OLE + "WordDocument".encode("utf-16-le"),
    "results.xlsx": sheet("Average response time"),
    "pictures.zip": packed(**{"a.png": b"\x89PNG\r\n\x1a\n" + bytes(100), "b.txt": b"Monday\n"}),
}


@pytest.mark.parametrize("name", BYSTANDERS)
def test_what_only_lies_beside_the_logs_is_skipped(said_of, name):
    ((kind, text),) = said_of(name, BYSTANDERS[name])
    assert kind == "skipped"
    assert text.startswith(name)


SILENT = {
    "package.json": {"name": "shop", "version": "1.2.0", "scripts": {"test": "jest"}, "dependencies": {"cpu": "1.0.0"}},
    "settings.json": [{"host": name, "cpu": 4, "memory": 16, "timestamp": "2026-01-01T00:00:00Z"} for name in "ab"],
    "review.json": {"schema": "plimsoll.review/1", "hosts": [{"time": "2026-11-02T09:00:00Z", "cpu": 1}] * 9},
}


@pytest.mark.parametrize("name", SILENT)
def test_json_without_measurements_is_passed_over(said_of, name):
    assert said_of(name, json.dumps(SILENT[name], indent=2).encode()) == []


def test_what_is_empty_was_to_be_a_log_where_logs_are_called_so(plimsoll, tmp_path):
    (tmp_path / "WEB01.txt").write_bytes(a_log())
    (tmp_path / "WEB02.txt").write_bytes(b"")
    (tmp_path / "WEB03.txt").write_bytes(bytes(100))
    plimsoll("review", tmp_path, "--json", tmp_path / "review.json")
    remarks = json.loads((tmp_path / "review.json").read_text())["remarks"]
    assert [(remark["kind"], remark["file"]) for remark in remarks] == [
        ("unread", str(tmp_path / "WEB02.txt")),
        ("unread", str(tmp_path / "WEB03.txt")),
    ]


def test_of_a_named_archive_each_file_is_told_by_itself(plimsoll, tmp_path):
    path = tmp_path / "run.zip"
    path.write_bytes(packed(**{"1.csv": a_log(), "2.blg": BUFFER, "3.csv": b"", "notes.txt": b"Monday"}))
    plimsoll("review", path, "--json", tmp_path / "review.json")
    remarks = json.loads((tmp_path / "review.json").read_text())["remarks"]
    assert [(remark["kind"], remark["file"], remark["text"][:18]) for remark in remarks] == [
        ("unread", f"{path}/2.blg", "the binary log is "),
        ("unread", f"{path}/3.csv", "is empty; there is"),
        ("skipped", f"{path}/notes.txt", "not a log that can"),
    ]


def test_a_file_that_may_not_be_read_is_unread(plimsoll, tmp_path, monkeypatch):
    (tmp_path / "WEB01.csv").write_bytes(a_log())
    (tmp_path / "WEB02.csv").write_bytes(a_log("WEB02"))
    opened = Path.open

    def refusing(path, *arguments, **options):
        if path.name == "WEB02.csv":  # as for anyone but root
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refusing)
    plimsoll("review", tmp_path, "--json", tmp_path / "review.json")
    (remark,) = json.loads((tmp_path / "review.json").read_text())["remarks"]
    assert (remark["kind"], remark["file"]) == ("unread", str(tmp_path / "WEB02.csv"))
    assert remark["text"] == "cannot be read: Permission denied"


def test_a_link_to_a_log_that_is_gone_is_unread(plimsoll, tmp_path):
    (tmp_path / "WEB01.csv").write_bytes(a_log())
    for name in ("WEB02.csv", "notes.md"):
        (tmp_path / name).symlink_to(tmp_path / "gone")
    done = plimsoll("review", tmp_path)
    assert done.err == f"remark: {tmp_path / 'WEB02.csv'}: cannot be read: No such file or directory\n"


@pytest.mark.parametrize("command", [["review"], ["ingest", "--run", "r", "--store", "http://127.0.0.1:1"]])
def test_a_named_log_without_rows_is_an_error_beside_others(plimsoll, tmp_path, monkeypatch, command):
    monkeypatch.setenv("INFLUX_TOKEN", "t")
    good, bare = tmp_path / "WEB01.csv", tmp_path / "WEB02.csv"
    good.write_bytes(a_log())
    bare.write_bytes(HEADER.format(host="WEB02").encode() + b"\r\n")
    done = plimsoll(*command, good, bare)
    assert (done.status, done.out) == (2, "")
    assert (
        done.err == f"plimsoll: {bare}: no samples: it holds a header and no rows; record it again, or leave it out\n"
    )
