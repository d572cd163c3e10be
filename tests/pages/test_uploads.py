"""Logs that are uploaded: read, reviewed and stored by a worker, with progress and with what is wrong in words."""

import gzip
import json
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import psutil
from write_blg import Recorder

from plimsoll.demo.runs import write_runs
from plimsoll.model.times import SECOND
from plimsoll.pages.shared.frame import run_path
from plimsoll.serve.limits import RequestLimits
from plimsoll.store.protocol import StoreState
from tests.each import run_each
from tests.ingest.blg_logs import whole
from tests.pages.browsing import opened
from tests.serve.site import site

HEADER = r'"(PDH-CSV 4.0) ({zone})(0)","\\{host}\Processor(_Total)\% Processor Time"'
HOSTILE = "<script>alert(1)</script>\"' \u202e&"


def log(host="WEB1", day=15, zone="UTC", minutes=20, busy=20):
    """A log of Performance Monitor."""
    rows = [f'"01/{day}/2024 10:{s // 60:02}:{s % 60:02}.000","{busy}"' for s in range(0, 60 * minutes, 10)]
    return ("\n".join([HEADER.format(host=host, zone=zone), *rows]) + "\n").encode()


# As typeperf writes it.
UNKNOWN_ZONE = log("WEB9").replace(b" (UTC)(0)", b"")


def sent(here, files, name="night", labels=(), **about):
    """The answer to an upload of files by their names."""
    texts = [("name", name), *(("labels", label) for label in labels), *about.items()]
    return sent_form(
        here, *((field, str(text).encode()) for field, text in texts), *(("files", file) for file in files.items())
    )


def form(parts, boundary=b"xXx"):
    """The body of a form, and its Content-Type: fields of text, and files by their names."""
    body = b""
    for name, value in parts:
        file, data = value if isinstance(value, tuple) else (None, value)
        named = f'; filename="{file.replace(chr(34), "%22")}"' if file is not None else ""
        head = f'Content-Disposition: form-data; name="{name}"{named}\r\n\r\n'.encode()
        body += b"--" + boundary + b"\r\n" + head + data + b"\r\n"
    return body + b"--" + boundary + b"--\r\n", f"multipart/form-data; boundary={boundary.decode()}"


def sent_form(here, *parts, length=True):
    body, type_ = form(parts)
    return here.request("POST", "/api/logs", body if length else iter([body]), headers={"Content-Type": type_})


def ended(here, answer):
    """What became of an upload."""
    assert answer.status == 202, answer.data
    address = f"/api/logs/{json.loads(answer.data)['id']}"
    until = time.monotonic() + 300
    while time.monotonic() < until:
        job = json.loads(here.request("GET", address).data)["job"]
        if job["stage"] in ("done", "failed"):
            return job
        time.sleep(0.05)
    raise AssertionError(here.request("GET", address).data)


def left(here):
    """The folders of files that were uploaded and are still there."""
    return [path for path in (here.folder / "uploads").iterdir() if path.is_dir()]


def is_cleared(here):
    """Whether the files of uploads are deleted; that is done after it is known what became of them."""
    until = time.monotonic() + 300
    while left(here) and time.monotonic() < until:
        time.sleep(0.02)
    return not left(here)


def workers():
    return [child for child in psutil.Process().children() if "plimsoll.pages.review_jobs.worker" in command(child)]


def the_worker():
    """The process that reads an upload, once it was started."""
    while not (processes := workers()):
        time.sleep(0.02)
    (process,) = processes
    return process


def command(process):
    try:
        return process.cmdline()
    except psutil.Error:  # it has ended, or is another test's
        return []


def test_logs_that_are_chosen_are_read_reviewed_and_stored_and_their_review_opens(here, chromium, tmp_path):
    folder = write_runs(tmp_path / "runs")[1]
    with opened(chromium, f"{here.address}/runs") as view:
        view.page.set_input_files("#files", [str(path) for path in sorted(folder.iterdir())])
        assert view.page.locator("#chosen").inner_text().startswith("4 files, ")
        assert view.page.input_value("#name") == "OCSFE01"
        view.page.fill("#name", "4 GB")
        view.page.fill("#run-labels", "where=lab, who=me")
        assert view.violations() == []
        view.page.click("text=Upload and review")
        view.page.wait_for_url("**/uploads/*")
        assert view.page.locator("h1").inner_text() == "4 GB"
        view.page.wait_for_url("**/runs/4%20GB")
        assert view.page.locator("h1").inner_text().startswith("Not healthy. Available memory of SQLSRV01")
        assert view.complaints == []
    (run,) = here.store.runs.summaries()
    assert (run.name, run.state, run.labels["where"], run.labels["memory"]) == (
        "4 GB",
        StoreState.COMPLETE,
        "lab",
        "4GB",
    )
    assert is_cleared(here)
    for folder in ("uploads", "reviews"):
        assert stat.S_IMODE((here.folder / folder).stat().st_mode) == 0o700


def test_what_cannot_be_read_is_said_in_words(here):
    for name, data, words in (
        (
            "notes.txt",
            b"Dear all,\nit was slow.\n",
            'notes.txt: not a log that can be read: it begins with "Dear all,"',
        ),
        ("circular.blg", whole(Recorder(mode=2)), "the binary log is a circular log"),
    ):
        job = ended(here, sent(here, {name: data}))
        assert (job["stage"], job["reviewed"]) == ("failed", ""), name
        assert words in job["error"], job
        page = here.request("GET", f"/uploads/{job['id']}").data.decode()
        assert "Upload other logs" in page
    assert is_cleared(here)


def test_beside_logs_other_files_are_remarked_and_a_plimsoll_toml_counts(here):
    settings = b'[run]\nhosts = ["WEB1", "WEB2"]\n[rules.windows-cpu-busy-critical]\noff = true\nreason = "known"\n'
    files = {"a.csv": log(), "notes.txt": b"Dear all\n", "plimsoll.toml": settings}
    job = ended(here, sent(here, {**files, "b.csv": log("WEB3")}))
    assert any("notes.txt" in item for item in job["remarks"])
    assert here.store.runs.get("night").settings == settings.decode()
    assert "WEB2" in here.request("GET", "/runs").data.decode()  # it should have been recorded
    wrong = ended(here, sent(here, {"a.csv": log(day=16), "plimsoll.toml": b"[rule]\n"}, "other"))
    assert wrong["error"].startswith("plimsoll.toml: rule: unknown setting")


def test_a_log_over_others_is_reviewed_and_stored_only_where_that_is_meant(here):
    ended(here, sent(here, {"a.csv": log()}))
    job = ended(here, sent(here, {"a.csv": log()}, "again"))
    assert "load over them with the check mark at “Load over data" in job["refused"]
    assert "is the field “Time zone” not right?" in job["refused"]
    assert "--" not in job["refused"]
    assert "Load over data of the same hosts and time" in job["hint"]
    page = here.request("GET", f"/uploads/{job['id']}").data.decode()
    assert "Reviewed, but not stored" in page
    assert "Not known" in page  # a log of processors alone
    assert b"<h1><b>" in here.request("GET", f"/uploads/{job['id']}/review").data
    assert [run.name for run in here.store.runs.summaries()] == ["night"]
    assert ended(here, sent(here, {"a.csv": log()}))["stored"] == "All 120 values were in the store already."
    assert ended(here, sent(here, {"a.csv": log()}, "again", merge=True))["stored"] == "120 values are in the store."


def test_a_log_without_a_zone_is_stored_once_it_is_named(here):
    job = ended(here, sent(here, {"a.csv": UNKNOWN_ZONE}))
    assert (job["stored"], job["hint"]) == ("", "Upload it again, and fill in its time zone.")
    assert ended(here, sent(here, {"a.csv": UNKNOWN_ZONE}, zone="Europe/Berlin"))["stored"]
    (run,) = here.store.runs.summaries()
    assert run.start == 1_705_309_200 * SECOND


def test_names_of_strangers_are_text_and_never_paths(here, chromium, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    decoy = tmp_path / "decoy.csv"
    decoy.write_bytes(log("DECOY"))
    before = sorted(tmp_path.rglob("*.csv"))
    names = {f"../../{HOSTILE}.csv": log("A"), str(decoy): log("B"), "plimsoll.toml/x.csv": log("C"), "\0": log("D")}
    label = f"{HOSTILE[:-3]}=<b>"
    job = ended(here, sent(here, names, f"{HOSTILE[:-3]}/..", labels=[label]))
    assert job["stored"], job
    (run,) = here.store.runs.summaries()
    assert run.hosts == ("A", "B", "C", "D")
    assert sorted(tmp_path.rglob("*.csv")) == before
    for path in ("/runs", "/runs?text=script", run_path(run.name).replace("/runs/", "/runs/delete?run=")):
        with opened(chromium, here.address + path) as view:
            assert view.page.locator("script:not([src])").count() == 0
            assert view.page.locator("main b").count() == 0
            assert view.complaints == []
    with opened(chromium, f"{here.address}/runs") as view:
        view.page.click("th a")
        assert view.page.locator(".run").inner_text() == run.name
        assert view.complaints == []


@run_each(
    [
        ({"name": ""}, "give a name of 1 to 200 characters"),
        ({"name": "x" * 201}, "give a name of 1 to 200 characters"),
        ({"labels": ["memory"]}, "write it like logon_rate=36"),
        ({"zone": "Nowhere"}, 'zone "Nowhere" is not known'),
        ({"files": []}, "files"),
        ({"folder": "/etc"}, "folder"),
    ],
    named=repr,
)
def test_a_description_that_is_wrong_is_refused_before_anything_is_sent(case, here):
    about, words = case
    described = {"name": "night", "files": [{"name": "a.csv", "size": 10}], **about}
    answer = here.request("POST", "/api/logs/check", json.dumps(described).encode())
    assert answer.status in (400, 422)
    assert words in json.loads(answer.data)["message"]


def test_an_upload_for_which_there_is_no_room_is_refused(duckdb, tmp_path):
    with site(duckdb, tmp_path / "data", limits=RequestLimits(disk_margin=1 << 60)) as here:
        described = {"name": "night", "files": [{"name": "a.csv", "size": 1000}]}
        for answer in (
            sent(here, {"a.csv": log()}),
            here.request("POST", "/api/logs/check", json.dumps(described).encode()),
        ):
            assert answer.status == 507
            assert "there is no room" in json.loads(answer.data)["message"]


def test_a_form_is_taken_as_curl_sends_it(here, tmp_path):
    answer = sent_form(
        here,
        ("labels", b"memory=8GB"),
        ("labels", b"who=me"),
        ("zone", b"Europe/Berlin"),
        ("files", ("../night.csv.gz", gzip.compress(UNKNOWN_ZONE))),
        ("files", ("b.csv", log("WEB2", minutes=50))),
        ("merge", b"true"),
    )
    assert ended(here, answer)["stored"]
    (run,) = here.store.runs.summaries()
    assert (run.name, run.hosts, run.labels) == ("night", ("WEB9", "WEB2"), {"memory": "8GB", "who": "me"})
    if curl := shutil.which("curl"):
        (tmp_path / "c.csv").write_bytes(log("WEB3", day=17))
        command = [curl, "-sS", "-F", "name=by curl", "-F", "files=@c.csv", f"{here.address}/api/logs"]
        id_ = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout)["id"]
        assert here.request("GET", f"/uploads/{id_}").status == 200
    assert is_cleared(here)


@run_each(
    [
        ([("files", b"a.csv")], 400, "with curl write -F files=@LOG"),
        ([("name", b"night")], 400, "files"),
        ([("log", ("a.csv", b""))], 400, "send logs in the field files"),
        ([("files", ("", b"x"))], 422, "give a name"),
        ([("name", b"a"), ("name", b"b"), ("files", ("a.csv", b""))], 400, "the field name is there 2 times"),
        ([("folder", b"/etc"), ("files", ("a.csv", b""))], 400, "folder"),
        ([("zone", b"Nowhere"), ("files", ("a.csv", b""))], 422, 'zone "Nowhere" is not known'),
        ([("merge", b"perhaps"), ("files", ("a.csv", b""))], 400, "merge"),
        ([("name", b"x" * 40_000), ("files", ("a.csv", b""))], 400, "maximum size"),
    ],
    named=lambda case: case[2],
)
def test_a_form_that_is_wrong_is_refused_with_the_reason(case, here):
    parts, status, words = case
    answer = sent_form(here, *parts)
    assert answer.status == status, answer.data
    assert words in json.loads(answer.data)["message"]
    assert is_cleared(here)


def test_a_form_has_the_limits_of_every_upload(duckdb, tmp_path):
    with site(duckdb, tmp_path / "data", limits=RequestLimits(upload=5000, upload_files=2, disk_margin=0)) as here:
        large = sent_form(here, ("files", ("a.csv", bytes(6000))))
        assert large.status == 413
        assert "4.88 KB in 2 files" in json.loads(large.data)["message"]
        assert sent_form(here, ("files", ("a.csv", b"x")), length=False).status == 411
        assert "number of files is 2" in str(sent_form(here, *[("files", ("a.csv", b"x"))] * 3).data)
        body, type_ = form([("files", ("a.csv", b"x" * 100))])
        for broken, named in ((body[:-20], type_), (b"hello", type_), (body, "multipart/form-data")):
            assert here.request("POST", "/api/logs", broken, headers={"Content-Type": named}).status == 400
        assert is_cleared(here)


def test_a_worker_that_is_killed_leaves_no_complete_run_and_the_next_one_has_its_turn(here, real_workers):
    first, second = sent(here, {"a.csv": log()}), sent(here, {"a.csv": log("WEB2")}, "second")
    worker = the_worker()
    if sys.platform == "linux":
        adjusted = Path(f"/proc/{worker.pid}/oom_score_adj")
        while adjusted.read_text("ascii") != "1000\n":  # where memory runs out, it is ended, and the judging goes on
            time.sleep(0.01)
    worker.kill()
    job = ended(here, first)
    assert (job["stage"], job["error"].partition(" (")[0]) == (
        "failed",
        "The process that read it was ended by the system",
    )
    assert ended(here, second)["stored"]
    assert [(run.name, run.state) for run in here.store.runs.summaries() if run.complete] == [
        ("second", StoreState.COMPLETE)
    ]


def test_a_stop_of_the_server_ends_the_worker_and_the_page_says_so_afterwards(duckdb, tmp_path, real_workers):
    with site(duckdb, tmp_path / "data") as here:
        running, waiting = (json.loads(sent(here, {"a.csv": log()}, name).data)["id"] for name in ("one", "two"))
        assert the_worker()
    assert workers() == []
    assert not [run for run in duckdb.runs.summaries() if run.complete]
    with site(duckdb, tmp_path / "data") as here:
        assert is_cleared(here)
        for id_, words in ((running, "plimsoll up was stopped"), (waiting, "plimsoll up ended before it was done")):
            assert words in here.request("GET", f"/uploads/{id_}").data.decode()
