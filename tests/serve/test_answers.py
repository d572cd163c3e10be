"""The write endpoint answers as the real InfluxDB, but keeps the good lines of a body with bad ones."""

import gzip
import time
from threading import Event
from typing import Any

import numpy as np
import pytest
import urllib3

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.receive.write_queue import Busy, WriteQueue
from plimsoll.store.duck.compaction import Keeping
from plimsoll.store.duck.samples import DuckSamples
from plimsoll.store.folders.runs import RunFolders
from plimsoll.store.protocol import WriteResult
from plimsoll.store.store import Store
from tests.each import run_each
from tests.serve.site import site

# path, headers, body
REQUEST = [
    ("/api/v2/write?org={org}&bucket={bucket}", {}, b"cpu,host=a v=1"),
    ("/api/v2/write?org={org}&bucket={bucket}", {}, b""),
    ("/api/v2/write?org={org}&bucket={bucket}", {}, b"\n# comment\n\n"),
    ("/api/v2/write?org={org}&bucket={bucket}", {}, b"cpu v"),
    ("/api/v2/write?org={org}&bucket={bucket}", {}, b"cpu,host=a time=1"),
    ("/api/v2/write?org={org}&bucket={bucket}&precision=s", {}, b"cpu,host=a v=1 1700000000"),
    ("/api/v2/write?org={org}&bucket={bucket}&precision=s", {}, b"cpu,host=a v=1 17000000000000000"),
    ("/api/v2/write?org={org}&bucket={bucket}&precision=m", {}, b"cpu,host=a v=1"),
    ("/api/v2/write?org={org}", {}, b"cpu,host=a v=1"),
    ("/api/v2/write?bucket={bucket}", {}, b"cpu,host=a v=1"),
    ("/write?db={bucket}", {}, b"cpu,host=a v=1"),
    ("/write?db={bucket}", {}, b"cpu,host=a v=x"),
    ("/write", {}, b"cpu,host=a v=1"),
    ("/api/v2/write?org={org}&bucket={bucket}", {"Content-Encoding": "gzip"}, gzip.compress(b"cpu,host=a v=1")),
    ("/api/v2/write?org={org}&bucket={bucket}", {"Content-Encoding": "gzip"}, gzip.compress(b"cpu")),
    (
        "/api/v2/write?org={org}&bucket={bucket}",
        {"Content-Encoding": "gzip"},
        gzip.compress(b"cpu,host=a v=1")[:-8] + b"12345678",
    ),
    ("/api/v2/nothing", {}, b""),
]


def influxdbs(bucket, method, path, body=None, headers=None):
    """The real InfluxDB's answer."""
    with urllib3.PoolManager(retries=False) as pools:
        return pools.request(method, bucket.url + path, body=body, headers=headers or {})


@run_each(REQUEST, named=repr)
def test_answers_as_influxdb(case, here, bucket):
    path, headers, body = case
    path = path.format(org=bucket.org, bucket=bucket.bucket)
    ours = here.request("POST", path, body, headers)
    token = {"Authorization": f"Token {bucket.token}"}
    theirs = influxdbs(bucket, "POST", path, body, {**headers, **token})
    assert ours.status == theirs.status
    if theirs.data:
        expected, result = theirs.json(), ours.json()
        assert result["code"] == expected["code"]
        assert result["message"].replace(" (line 1)", "") == expected["message"]


def test_other_methods(here, bucket):
    path = "/api/v2/write?org=o&bucket=b"
    theirs = influxdbs(bucket, "GET", path, None, {"Authorization": f"Token {bucket.token}"})
    assert here.request("GET", path).status == theirs.status == 405
    for method in ("GET", "HEAD"):
        ours, theirs = here.request(method, "/ping"), influxdbs(bucket, method, "/ping")
        assert (ours.status, ours.headers["X-Influxdb-Version"]) == (204, theirs.headers["X-Influxdb-Version"])
        assert here.request(method, "/health").status == 200


def test_good_lines_are_kept_and_bad_ones_named(here):
    body = b"cpu,host=a v=1 1\ncpu v\ncpu,host=a v=2 2\n\ncpu,host=a v=1 x\ncpu v=1 1\ncpu,host=a v=3 3"
    answer = here.post(body)
    assert answer.status == 400
    json_field = answer.json()
    assert (json_field["code"], json_field["line"], json_field["error"]) == ("invalid", 2, json_field["message"])
    assert json_field["message"] == (
        "partial write: unable to parse 'cpu v': invalid field format (line 2)\n"
        "unable to parse 'cpu,host=a v=1 x': bad timestamp (line 5)\n"
        'no tag "host" says whose the point is; let the agent add it (Telegraf: omit_hostname = false), and review the results of a load driver as a log (line 6) '
        "dropped=3"
    )
    assert list(here.stored().values()) == [1, 2, 3]


def test_an_answer_is_short_however_much_is_wrong(here):
    answer = here.post(b"cpu,host=a v=" + b"x" * 100_000 + b"\n" + b"cpu\n" * 100_000)
    assert len(answer.data) < 10_000
    assert answer.json()["message"].endswith("and 99981 more")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"cpu,host=a v=1", "gzip: invalid header"),
        (gzip.compress(b"cpu,host=a v=1", mtime=0)[:-3], "unexpected EOF"),
        (gzip.compress(b"cpu,host=a v=1", mtime=0) + b"more", "gzip: invalid header"),
        (b"", "EOF"),
    ],
)
def test_what_is_no_gzip_will_not_become_it(here, body, message):
    # InfluxDB answers 500, upon which Telegraf sends it again and again.
    answer = here.post(body, Content_Encoding="gzip")
    assert (answer.status, answer.json()["message"]) == (400, f"unable to read data: {message}")
    assert here.stored() == {}


def test_other_encodings_are_refused(here):
    assert here.post(b"cpu,host=a v=1", Content_Encoding="br").status == 415


class Refusing(DuckSamples):
    """A store in trouble."""

    error: Exception | None = None
    refuses = ""
    go_on: Event | None = None

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.writes = []

    def write_points(self, points: Points) -> WriteResult:
        self.writes.append(len(points))
        if self.go_on:
            self.go_on.wait(300)
        if self.error:
            raise self.error
        if self.refuses in {series.measurement for series in points.series}:
            return WriteResult(len(points), 1, "partial write: field type conflict dropped=1")
        return super().write_points(points)


@pytest.mark.parametrize(
    "error",
    [Unusable("/data: 1 GB is full"), Unreachable("http://influx: does not answer"), RuntimeError("defect")],
    ids=repr,
)
def test_what_cannot_be_written_is_to_be_sent_again(error, tmp_path):
    store: Any = Refusing(tmp_path / "plimsoll.duckdb", 0, Keeping(30, 400, 1 << 40))
    with site(Store(store, RunFolders.open(tmp_path / "runs", make=True)), tmp_path / "data") as here:
        store.error = error
        answer = here.post(b"cpu,host=a v=1 1")
        assert answer.status == 503
        assert int(answer.headers["Retry-After"]) > 0
        assert str(error) in here.writing.state.problem
        assert str(error) in answer.json()["message"]
        store.error = None
        assert here.post(b"cpu,host=a v=1 1").status == 204
        assert here.writing.state.problem == ""
    store.close()


def points(measurement):
    return Points([Series("a", measurement, (), "v")], np.zeros(1, np.int32), np.ones(1, np.int64), np.ones(1))


@pytest.fixture
def kept(tmp_path):
    """A store whose first write waits, and its writer."""
    store: Any = Refusing(tmp_path / "plimsoll.duckdb", 0, Keeping(30, 400, 1 << 40))
    store.go_on = Event()
    writing = WriteQueue(store)
    yield store, writing
    store.go_on.set()
    writing.close()
    store.close()


def test_what_waits_is_written_at_once_and_each_writer_told_of_its_own(kept):
    store, writing = kept
    first = writing.put(points("first"))
    while not store.writes:
        time.sleep(0.01)
    good, bad, other = (writing.put(points(name)) for name in ("good", "bad", "other"))
    store.refuses = "bad"
    store.go_on.set()
    assert [item.result(300).refused for item in (first, good, bad, other)] == [0, 0, 1, 0]
    assert store.writes == [1, 3, 1, 1, 1]


def test_too_many_waiting_points_are_refused_until_some_are_written(kept, monkeypatch):
    store, writing = kept
    monkeypatch.setattr("plimsoll.receive.write_queue.MOST_WAITING", 2)
    taken = [writing.put(points("a")) for _ in range(2)]
    with pytest.raises(Busy):
        writing.put(points("a"))
    store.go_on.set()
    assert [item.result(300).values for item in taken] == [1, 1]
    assert writing.put(points("a")).result(300).values == 1


def test_a_writer_without_end_leaves_room_for_others(kept, monkeypatch):
    store, writing = kept
    monkeypatch.setattr("plimsoll.receive.write_queue.MOST_OF_WRITER", 2)
    taken = [writing.put(points("a"), "192.0.2.1") for _ in range(2)]
    with pytest.raises(Busy):
        writing.put(points("a"), "192.0.2.1")
    taken.append(writing.put(points("a"), "192.0.2.2"))
    store.go_on.set()
    assert [item.result(300).values for item in taken] == [1, 1, 1]
    assert writing.put(points("a"), "192.0.2.1").result(300).values == 1


def test_what_was_put_in_is_written_before_the_end(kept):
    store, writing = kept
    last = [writing.put(points(name)) for name in ("a", "b")]
    store.go_on.set()
    writing.close()
    assert all(item.done() for item in last)
    with pytest.raises(Busy):
        writing.put(points("c"))
