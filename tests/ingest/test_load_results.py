"""Results of load drivers: one run, written as each driver writes it, gives the same series, which are the run's."""

import json
import re
import zlib
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from plimsoll.ingest.read import find_logs, read_files, read_log
from plimsoll.ingest.reading import ReadOptions
from plimsoll.model.remark import Kind
from plimsoll.receive.line_protocol.parse import Parser

START_MS = 1_700_000_000_000
OPERATIONS = ("home", "search", "pay")


@pytest.fixture(scope="module")
def run():
    """Requests as (start ms, ms taken, operation, succeeded), in order of their ends, over 20 minutes."""
    rng = np.random.default_rng(7)
    starts = np.sort(rng.integers(0, 1_199_000, 6000)).tolist()
    starts[0] = 0
    took = [min(round(item), 20_000) for item in rng.gamma(2.0, 90.0, 6000)]
    rows = [
        (START_MS + start, length, OPERATIONS[int(rng.integers(3))], bool(rng.random() > 0.05))
        for start, length in zip(starts, took, strict=True)
    ]
    return sorted(rows, key=lambda item: item[0] + item[1])


def as_jtl(run):
    rows = [
        f"{at},{took},{name},200,OK,T 1-1,text,{str(good).lower()},,9,9,3,3,u,1,0,1" for at, took, name, good in run
    ]
    head = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,"
    return "\n".join([head + "sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect", *rows, ""])


def as_xml(run):
    rows = [
        f'<httpSample t="{took}" ts="{at}" s="{str(good).lower()}" lb="{name}" rm="OK" ng="3" na="3"/>'
        for at, took, name, good in run
    ]
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', '<testResults version="1.2">', *rows, "</testResults>"])


def as_k6_csv(run):
    head = "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,status,url"
    rows = [
        f"{metric},{at + took},{value},,,,{str(good).lower()},,GET,{name},200,{name}"
        for at, took, name, good in run
        for metric, value in (("http_reqs", 1), ("http_req_duration", took), ("http_req_waiting", took / 2))
    ]
    users = [f"vus,{START_MS + at},3,,,,,,,,," for at in range(0, 1_200_000, 1000)]
    return "\n".join([head, *rows, *users, ""])


def as_k6_json(run):
    def line(metric, at, value, **tags):
        time = datetime.fromtimestamp(at / 1000, UTC).isoformat()
        return json.dumps({"metric": metric, "type": "Point", "data": {"time": time, "value": value, "tags": tags}})

    rows = [
        line("http_req_duration", at + took, took, name=name, status="200", expected_response=str(good).lower())
        for at, took, name, good in run
    ]
    users = [line("vus", START_MS + at, 3) for at in range(0, 1_200_000, 1000)]
    return "\n".join(['{"type":"Metric","data":{"name":"vus"},"metric":"vus"}', *users, *rows, ""])


def as_gatling(run):
    rows = [f"REQUEST\t\t{name}\t{at}\t{at + took}\t{'OK' if good else 'KO'}\t " for at, took, name, good in run]
    users = [f"USER\tU\tSTART\t{START_MS}"] * 3
    return "\n".join([f"RUN\ta.B\tb\t{START_MS}\t \t3.9.5", *users, *rows, ""])


WRITERS = [as_jtl, as_xml, as_k6_csv, as_k6_json, as_gatling]


def series_of(log, field, operation=None):
    return next(
        log.column(at)
        for at, series in enumerate(log.series)
        if series.field == field and series.tag("operation") == operation
    )


def expected(run, edges, operation):
    """The requests in each step, counted one by one."""
    rows = [item for item in run if operation in (None, item[2])]
    for start, end in pairwise(edges):
        yield [item for item in rows if start < item[0] + item[1] <= end]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("operation", [None, "search"])
def test_series_are_those_of_the_requests(tmp_path, run, write, operation):
    path = tmp_path / "results"
    path.write_text(write(run), encoding="utf-8")
    log = read_log(path)
    assert not log.remarks
    edges = [min(at for at, *_ in run), *(log.times // 10**6).tolist()]
    assert log.interval == 10 * 10**9
    steps = list(expected(run, edges, operation))
    lengths = np.diff(edges) / 1000
    done = np.array([len(step) for step in steps])
    assert done.sum() == sum(operation in (None, item[2]) for item in run)
    failed = np.array([sum(not good for *_, good in step) for step in steps])
    np.testing.assert_allclose(series_of(log, "requests", operation), done / lengths)
    np.testing.assert_allclose(series_of(log, "errors", operation), failed / lengths)
    for field, share in (("response_p50_s", 50), ("response_p95_s", 95), ("response_p99_s", 99)):
        rows = [np.percentile([took for _, took, *_ in step], share) / 1000 if step else np.nan for step in steps]
        np.testing.assert_allclose(series_of(log, field, operation), rows, rtol=1e-9)


@pytest.mark.parametrize("write", WRITERS)
def test_users_and_requests_in_flight(tmp_path, run, write):
    path = tmp_path / "results"
    path.write_text(write(run), encoding="utf-8")
    log = read_log(path)
    users = series_of(log, "users")
    np.testing.assert_allclose(users[~np.isnan(users)], 3)
    # By sampling each millisecond of some steps.
    edges = [START_MS, *(log.times // 10**6).tolist()]
    for step in (0, 17, len(edges) - 2):
        moments = np.arange(edges[step], edges[step + 1]) + 0.5
        counts = np.sum([(moments > at) & (moments < at + took) for at, took, *_ in run], axis=0)
        assert series_of(log, "in_flight")[step] == pytest.approx(counts.mean(), abs=1e-6)


REFUSED = "Connect to 10.0.0.{at}:80 [/10.0.0.{at}] failed: Connection refused"
FAILURES = {  # how often each code came, its message, and whether an assertion failed behind a good response
    "404": (40, "Not Found", ""),
    "500": (20, "Internal Server Error", ""),
    "0": (10, REFUSED, ""),
    "503": (9, "Service Unavailable", ""),
    "200": (30, "OK", "expected to contain /cart/"),
}


def failing_requests():
    """As (start in ms, code, message, assertion): a request a second for five minutes, of which some fail."""
    rng = np.random.default_rng(11)
    requests = [(START_MS + 1000 * at, "200", "OK", "") for at in range(300)]
    places = iter(rng.permutation(300).tolist())
    for code, (count, message, assertion) in FAILURES.items():
        for number in range(count):
            place = next(places)
            requests[place] = START_MS + 1000 * place, code, message.format(at=number), assertion or "x"
    return requests


def as_jtl_with_messages(requests):
    rows = [
        f"{at},90,page,{'Non HTTP response code: java.net.ConnectException' if code == '0' else code},"
        f"{'Non HTTP response message: ' if code == '0' else ''}{message},T 1-1,{str(not why).lower()},"
        f"{why if why != 'x' else ''}"
        for at, code, message, why in requests
    ]
    return "\n".join(
        ["timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,failureMessage", *rows, ""]
    )


def as_k6_with_errors(requests):
    rows = [
        f"http_req_duration,{at + 90},90,{message if code == '0' else ''},{'1212' if code == '0' else ''},"
        f"{str(not why).lower()},page,{code}"
        for at, code, message, why in requests
    ]
    return "\n".join(["metric_name,timestamp,metric_value,error,error_code,expected_response,name,status", *rows, ""])


def as_gatling_with_messages(requests):
    def message(code, message, why):
        return message if code == "0" else why if code == "200" else f"status.find.is(200), found {code}"

    rows = [
        f"REQUEST\t\tpage\t{at}\t{at + 90}\t{'KO' if why else 'OK'}\t{message(code, text, why) if why else ' '}"
        for at, code, text, why in requests
    ]
    return "\n".join([f"RUN\ta.B\tb\t{START_MS}\t \t3.9.5", *rows, ""])


def as_vegeta(requests):
    rows = [
        f"{at}000000,{code},90000000,0,9,{'' if code == '200' else message if code == '0' else f'{code} {message}'},,"
        f"a,{number},GET,http://shop.test/,"
        for number, (at, code, message, _) in enumerate(requests)
    ]
    return "\n".join([*rows, ""])


@pytest.mark.parametrize(
    ("write", "names"),
    [
        (as_jtl_with_messages, ("404 Not Found", "expected to contain /cart/", "500 Internal Server Error")),
        (as_k6_with_errors, ("404 Not Found", "200 OK", "500 Internal Server Error")),
        (as_gatling_with_messages, ("status.find.is(200), found 404", "expected to contain /cart/", "status.find.is(200), found 500")),
        (as_vegeta, ("404 Not Found", "500 Internal Server Error", "Connect to … [/…] failed: Connection refused")),
    ],
)  # fmt: skip
def test_the_three_most_frequent_reasons_for_failures_are_counted(tmp_path, write, names):
    """Reasons that differ in an address are one; a request counts in the step in which it ends."""
    path = tmp_path / "results"
    path.write_text(write(failing_requests()), encoding="utf-8")
    log = read_log(path)
    counted = {
        series.tag("reason"): log.columns[at]
        for at, series in enumerate(log.series)
        if series.measurement == "load_driver_failure"
    }
    of_code = {"404": 40, "500": 20, "0": 10, "200": 30}
    codes = ["404", "200", "500"] if write is not as_vegeta else ["404", "500", "0"]
    assert {name: values.sum() for name, values in counted.items()} == {
        name: of_code[code] for name, code in zip(names, codes, strict=True)
    }
    edges = [START_MS, *(log.times // 10**6).tolist()]
    ends = [at + 90 for at, code, *_ in failing_requests() if code == "404"]
    assert counted[names[0]].tolist() == [sum(start < end <= stop for end in ends) for start, stop in pairwise(edges)]


def test_jmeters_results_without_success_and_label_are_told_by_their_status(tmp_path):
    rows = [
        f"{at},90,{'Non HTTP response code: java.net.ConnectException' if code == '0' else code}"
        for at, code, *_ in failing_requests()
    ]
    path = tmp_path / "results"
    path.write_text("\n".join(["timeStamp,elapsed,responseCode", *rows, ""]), encoding="utf-8")
    log = read_log(path)
    edges = np.concatenate(([START_MS], log.times / 1e6))
    assert (series_of(log, "errors") * np.diff(edges) / 1000).sum() == pytest.approx(40 + 20 + 10 + 9)


def read_together(folder, **texts):
    """The log of the driver of several files in a folder, and all remarks."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (log,) = read_files(find_logs([folder]), ReadOptions()).logs
    return log, {kind: [str(item) for item in log.remarks if item.kind == kind] for kind in Kind}


def test_requests_of_several_injectors_are_added_up(tmp_path, run):
    apart = [[item for item in run if zlib.crc32(str(item).encode()) % 3 == part] for part in range(3)]
    log, remarks = read_together(tmp_path / "run", **{f"{at}.jtl": as_jtl(part) for at, part in enumerate(apart)})
    (tmp_path / "results").write_text(as_jtl(run), encoding="utf-8")
    whole = read_log(tmp_path / "results")
    assert np.array_equal(log.times, whole.times)
    columns = dict(zip(log.series, log.columns, strict=True))
    for series, values in zip(whole.series, whole.columns, strict=True):
        if series.field == "users":  # counted from the first sample of each injector to its last
            assert set(columns[series][1:-1]) == {9}
        else:
            np.testing.assert_allclose(columns[series], values, rtol=1e-9)
    assert "requests of 3 files were sent at the same time" in str(remarks[Kind.NOTED])
    assert not remarks[Kind.CUT] + remarks[Kind.REPAIRED]
    failing = [as_jtl_with_messages(failing_requests()[part::2]) for part in range(2)]
    log, _ = read_together(tmp_path / "failing", **dict(zip(("a.jtl", "b.jtl"), failing, strict=True)))
    reasons = {series.tag("reason"): sum(values) for series, values in zip(log.series, log.columns, strict=True)}
    assert [reasons[name] for name in ("404 Not Found", "expected to contain /cart/")] == [40, 30]


@pytest.mark.parametrize(
    "files",
    [
        lambda run: {"a.jtl": as_jtl(run), "copy.jtl": as_jtl(run)},
        lambda run: {"a.jtl": as_jtl(run), "b.xml": as_xml(run)},
        lambda run: {"a.jtl": as_jtl(run), "failed.jtl": as_jtl([item for item in run if not item[3]])},
        lambda run: {"a.jtl": as_jtl(run[:4000]), "b.jtl": as_jtl(run[2000:])},
        lambda run: {
            "a.jtl": as_jtl(run[::2]),
            "b.jtl": as_jtl(run[1::2]),
            "failed.jtl": as_jtl([item for item in run[::2] if not item[3]]),
        },
        lambda run: {
            "a.csv": as_k6_csv([((at + took) // 1000 * 1000 - took, took, *rest) for at, took, *rest in run]),
            "b.json": as_k6_json(run),
        },
    ],
    ids=["copy", "other format", "failures", "overlap", "failures of two", "in seconds"],
)
def test_requests_that_stand_in_two_files_count_once(tmp_path, run, files):
    log, remarks = read_together(tmp_path / "run", **files(run))
    edges = np.concatenate(([run[0][0]], log.times / 1e6))
    assert (series_of(log, "requests") * np.diff(edges) / 1000).sum() == pytest.approx(len(run), rel=0.002)
    assert "counted once" in str(remarks[Kind.REPAIRED])
    assert not remarks[Kind.CUT]


def test_files_that_follow_each_other_stay_apart_though_a_request_is_under_way(tmp_path, run):
    half = START_MS + 600_000
    first, second = ([item for item in run if (item[0] < half) == begins] for begins in (True, False))
    for name, part in (("a.jtl", [*first, (half - 50, 900, "home", True)]), ("b.jtl", second)):
        (tmp_path / name).write_text(as_jtl(part), encoding="utf-8")
    logs = read_files(find_logs([tmp_path]), ReadOptions()).logs
    assert [log.path.name for log in logs] == ["a.jtl", "b.jtl"]
    assert not [item for log in logs for item in log.remarks]


def test_an_injector_that_ends_early_or_fails_alone_is_a_part_that_is_missing(tmp_path, run):
    first, second = run[::2], run[1::2]
    short = [item for item in second if item[0] < START_MS + 600_000]
    _, remarks = read_together(tmp_path / "short", **{"a.jtl": as_jtl(first), "b.jtl": as_jtl(short)})
    (text,) = remarks[Kind.CUT]
    assert re.fullmatch(r"the requests of b.jtl end (10 min|9 min 5\d s).* before those of other files", text)
    probe = [item for item in first if item[0] > START_MS + 600_000][::20]
    test = {"probe.jtl": as_jtl([*short[1::20], *probe]), "test.jtl": as_jtl(short[::2])}
    assert not read_together(tmp_path / "probe", **test)[1][Kind.CUT], "a probe goes on after a test"
    broken = [(*item[:3], False) for item in second]
    _, remarks = read_together(tmp_path / "broken", **{"a.jtl": as_jtl(first), "b.jtl": as_jtl(broken)})
    assert remarks[Kind.CUT] == ["100 % of the requests of b.jtl failed, unlike those of other files"]


def test_of_many_operations_the_rarest_are_one(tmp_path):
    rows = [(START_MS + at, 100, f"page {at % 50 if at % 3 else 0}", True) for at in range(0, 90_000, 10)]
    path = tmp_path / "results"
    path.write_text(as_jtl(rows), encoding="utf-8")
    log = read_log(path)
    names = {series.tag("operation") for series in log.series} - {None}
    assert len(names) == 30 or len(names) == len({name for _, _, name, _ in rows})
    total = sum(series_of(log, "requests", name) for name in names)
    np.testing.assert_allclose(total, series_of(log, "requests"))


def test_a_block_of_json_ends_with_a_line(tmp_path, monkeypatch, run):
    monkeypatch.setattr("plimsoll.ingest.formats.load_results.k6_json._BLOCK", 1000)
    path = tmp_path / "results"
    path.write_text(as_k6_json(run[:200]), encoding="utf-8")
    in_blocks = read_log(path)
    monkeypatch.undo()
    whole = read_log(path)
    assert in_blocks.series == whole.series
    for column, other in zip(in_blocks.columns, whole.columns, strict=True):
        assert np.array_equal(column, other, equal_nan=True)


def test_a_jmeter_plans_results_beside_the_series_of_its_influxdb_listener():
    """One plan, written by JMeter 5.6.3 both ways: the counts agree, and the listener's times are of all before."""
    folder = Path(__file__).parent / "jmeter_listener"
    sent = (folder / "listener.lp").read_bytes()
    lines = re.findall(rb"transaction=(\w+),statut=all count=(\d+).*?max=([\d.]+)", sent)
    counts = Counter[str]()
    for name, count, _ in lines:
        counts[name.decode()] += int(count)
    assert counts == {"all": 48, "page": 12, "error": 12, "moved": 12, "order": 12}
    log = read_log(folder / "results.csv")
    assert {series.tag("operation") for series in log.series} - {None} == {"page", "error", "moved"}
    assert any("12 samples of Transaction Controllers left out" in str(remark) for remark in log.remarks)
    assert {highest for name, _, highest in lines if name == b"page"} == {b"534.0"}  # of the first request alone
    parsed = Parser().parse(sent, now=START_MS * 1_000_000)
    assert (len(parsed.points.series), parsed.refused.count) == (0, len(sent.splitlines()))
    assert "review the results" in parsed.refused.first[0][2]
