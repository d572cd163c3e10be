"""The results of a load driver beside counters of hosts: they are the load, not a host that must be judged."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import plimsoll

HOUR_MS = 1_705_312_200_000
EXAMPLE = Path(__file__).parents[2] / "examples" / "windows-today"


def _jtl(path, start_ms, seconds):
    head = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,allThreads\n"
    rows = (f"{start_ms + at * 250},120,page,200,OK,T 1,true,20\n" for at in range(seconds * 4))
    path.write_text(head + "".join(rows), encoding="utf-8")
    return path


def test_a_healthy_run_stays_healthy_beside_its_load_driver(tmp_path):
    folder = EXAMPLE / "healthy"
    alone = plimsoll.review(folder).review
    logs = sorted(path for path in folder.iterdir() if path.suffix != ".toml")
    # The driver begins later and ends earlier than what was recorded of the host, though not much.
    driver = _jtl(tmp_path / "results.jtl", (alone.start or 0) // 10**6 + 120_000, 2100)
    both = plimsoll.review(*logs, driver, config=folder / "plimsoll.toml").review
    assert alone.verdict == both.verdict == "healthy"
    assert {finding.subject.host for finding in both.findings if finding.subject} == set(alone.hosts)
    assert "client.requests" in [load.name for load in both.loads]
    assert "client.requests" not in [load.name for load in alone.loads]


def test_alone_it_is_not_healthy(tmp_path):
    review = plimsoll.review(_jtl(tmp_path / "results.jtl", HOUR_MS, 900)).review
    assert review.verdict == "unknown"


def test_k6_json_in_a_folder_is_read(tmp_path):
    time, tags = "2024-03-10T06:00:00Z", '{"name": "page", "status": "200"}'
    point = f'{{"metric":"http_req_duration","type":"Point","data":{{"time":"{time}","value":120,"tags":{tags}}}}}\n'
    (tmp_path / "results.json").write_text(point, encoding="utf-8")
    assert [log.format for log in plimsoll.review(tmp_path).review.logs] == ["k6-JSON"]


@pytest.fixture
def beside_a_healthy_host(tmp_path):
    """Reviews half an hour of a healthy host beside requests: for each the seconds since its start, and the result.

    They take 120 ms, or what `elapsed` gives for the seconds, and are of one operation, or of what `label` gives.
    """

    def call(requests, elapsed=lambda _: 120, label=lambda _: "page"):
        folder = EXAMPLE / "healthy"
        logs = sorted(path for path in folder.iterdir() if path.suffix != ".toml")
        start = (plimsoll.review(folder).review.start or 0) // 10**6
        head = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,allThreads\n"
        rows = (
            f"{start + int(at * 1000)},{elapsed(at)},{label(at)},200,OK,T 1,{result},20\n" for at, result in requests
        )
        (tmp_path / "results.jtl").write_text(head + "".join(rows), encoding="utf-8")
        return plimsoll.review(*logs, tmp_path / "results.jtl", config=folder / "plimsoll.toml").review

    return call


def test_a_run_of_which_most_requests_failed_is_not_known_to_be_healthy(beside_a_healthy_host):
    review = beside_a_healthy_host([(at / 4, "true" if at % 10 == 0 else "false") for at in range(7000)])
    assert review.verdict == "unknown"
    assert "90 % of the requests of the load driver failed" in review.headline


@pytest.mark.parametrize(("result", "expected"), [("false", "unknown"), ("true", "healthy")])
def test_an_operation_that_fails_is_not_known_to_be_healthy(result, expected, beside_a_healthy_host):
    def is_checkout(at):
        return at % 10 == 0

    requests = [(at / 4, result if is_checkout(at / 4) else "true") for at in range(9000)]
    review = beside_a_healthy_host(requests, label=lambda at: "checkout" if is_checkout(at) else "page")
    assert review.verdict == expected
    assert ("100 % of the requests of “checkout” failed" in review.headline) == (expected == "unknown")


def test_a_run_whose_requests_failed_for_long_is_not_known_to_be_healthy(beside_a_healthy_host):
    review = beside_a_healthy_host([(at / 4, "false" if 5000 < at < 5900 and at % 3 else "true") for at in range(9000)])
    assert review.verdict == "unknown"
    assert review.doubts[0].reason == "65.1 % of the requests of the load driver failed for 3 min 50 s"
    review = beside_a_healthy_host([(at / 4, "false" if 5000 < at < 5900 and at % 2 else "true") for at in range(9500)])
    assert review.doubts[0].reason == "48.9 % of the requests of the load driver failed for 3 min 50 s"


def test_a_system_that_did_not_answer_for_long_is_not_known_to_be_healthy(beside_a_healthy_host):
    review = beside_a_healthy_host([(at / 4, "true") for at in range(9000) if not 3000 < at < 4600])
    assert review.verdict == "unknown"
    assert "had next to no requests answered for 6 min 40 s in the middle of its load" in review.headline
    review = beside_a_healthy_host([(at / 4, "true") for at in range(9000) if not 3000 < at < 3400])
    assert review.verdict == "healthy"


def test_why_most_requests_failed_is_said(tmp_path):
    codes = [
        (500, "Internal Server Error"),
        (404, "Not Found"),
        (500, "Internal Server Error"),
        (200, "OK"),
        (200, "OK"),
    ]
    rows = [
        f"{HOUR_MS + 1000 * at},90,page,{code},{message},T 1-1,{'true' if code == 200 else 'false'}\n"
        for at, (code, message) in enumerate(codes * 180)
    ]
    head = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success\n"
    (tmp_path / "results.jtl").write_text(head + "".join(rows), encoding="utf-8")
    result = plimsoll.review(tmp_path / "results.jtl")
    reason = "60 % of the requests of the load driver failed, mostly with “500 Internal Server Error”"
    assert result.review.doubts[0].reason == reason
    assert [(why.reason, why.requests) for why in result.review.failure_reasons] == [
        ("500 Internal Server Error", 360),
        ("404 Not Found", 180),
    ]


def test_how_many_requests_failed_is_said_where_they_are_not_few(beside_a_healthy_host):
    review = beside_a_healthy_host([(at / 4, "false" if at % 25 == 0 else "true") for at in range(9500)])
    assert review.verdict == "healthy"
    assert "4 % of the requests of the load driver failed, and no objective says how many may." in review.headline


@pytest.mark.parametrize(
    ("requests", "elapsed"),
    [
        (range(7000), lambda at: 1500 if at > 1400 else 300),
        ((at for at in range(7000) if at < 3500 or at % 2), lambda at: 120 * 1.0025**at),
    ],
    ids=["the last minutes", "ever longer, and fewer of them"],
)
def test_requests_that_take_longer_while_no_more_are_answered_are_no_healthy_run(
    requests, elapsed, beside_a_healthy_host
):
    review = beside_a_healthy_host([(at / 4, "true") for at in requests], lambda at: int(elapsed(at)))
    assert review.verdict == "unknown"
    assert "requests of the load driver took" in review.headline
    assert "at no higher rate; set how long they may take under [objective]" in review.headline


@pytest.mark.parametrize(
    "elapsed",
    [lambda at: 2500 if at < 300 else 120, lambda at: 900 if at > 1400 else 120],
    ids=["a slow start", "less than a second"],
)
def test_requests_that_take_longer_at_first_or_less_than_a_second_are_no_doubt(elapsed, beside_a_healthy_host):
    assert beside_a_healthy_host([(at / 4, "true") for at in range(9500)], elapsed).verdict == "healthy"


def test_how_long_requests_take_is_said_where_that_is_long(beside_a_healthy_host):
    review = beside_a_healthy_host([(at / 4, "true") for at in range(9500)], lambda _: 3000)
    assert review.verdict == "healthy"
    assert "Requests of the load driver took 3 s in the mean, and no objective limits that." in review.headline


def test_results_that_end_long_before_the_host_stops_working_are_not_known_to_be_whole(beside_a_healthy_host):
    review = beside_a_healthy_host([(at / 4, "true") for at in range(4000)])
    assert review.verdict == "unknown"
    assert "worked on as before; see whether they are whole" in review.headline


def test_users_who_wait_for_answers_until_the_end_leave_it_open(beside_a_healthy_host):
    rest = [(at, "true") for at in range(1000, 1740, 20)]
    review = beside_a_healthy_host([*((at / 4, "true") for at in range(4000)), *rest])
    assert review.verdict == "unknown"
    assert "at the end of its load" in review.headline


def test_a_row_cut_within_its_result_is_damage_and_no_failed_request(tmp_path):
    path = _jtl(tmp_path / "results.jtl", HOUR_MS, 60)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{HOUR_MS + 61_000},120,page,200,OK,T 1,tr")
    (log,) = plimsoll.review(path).review.logs
    errors = dict(zip([series.field for series in log.series], log.columns, strict=True))["errors"]
    assert errors.sum() == 0
    assert any("1 row without" in remark.text for remark in log.remarks)


@pytest.mark.parametrize(("earlier", "length"), [(40 * 86400, 1200), (2 * 3600, 600)])
def test_of_runs_appended_to_one_file_that_of_the_counters_or_the_newest_is_judged(tmp_path, earlier, length):
    folder = EXAMPLE / "healthy"
    start = (plimsoll.review(folder).review.start or 0) // 10**6
    path = _jtl(tmp_path / "first.jtl", start - earlier * 1000, length)
    second = _jtl(tmp_path / "second.jtl", start, 2300)
    rows = second.read_text("utf-8").partition("\n")[2]
    path.write_text(path.read_text("utf-8") + rows, encoding="utf-8")
    alone = plimsoll.review(path)
    assert (alone.review.start or 0) // 10**6 == pytest.approx(start, abs=11_000)
    assert "holds 2 recordings" in " ".join(map(str, alone.review.remarks))
    logs = sorted(log for log in folder.iterdir() if log.suffix != ".toml")
    beside = plimsoll.review(*logs, path, config=folder / "plimsoll.toml").review
    assert beside.verdict == "healthy"
    first = plimsoll.review(path, to=plimsoll_time(start - 1000)).review
    assert (first.end or 0) // 10**6 < start


def plimsoll_time(moment_ms):
    """Return a moment as people type it."""
    return datetime.fromtimestamp(moment_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def test_an_outage_within_a_long_run_is_no_new_run(tmp_path):
    path = _jtl(tmp_path / "results.jtl", HOUR_MS, 3 * 3600)
    later = _jtl(tmp_path / "later.jtl", HOUR_MS + 5 * 3_600_000, 3 * 3600)
    path.write_text(path.read_text("utf-8") + later.read_text("utf-8").partition("\n")[2], encoding="utf-8")
    review = plimsoll.review(path).review
    assert (review.start or 0) // 10**6 == pytest.approx(HOUR_MS, abs=61_000)


@pytest.mark.parametrize("metric", ["checks", "dropped_iterations"])
def test_failed_checks_and_dropped_iterations_of_k6_are_doubts(metric, tmp_path):
    """Four requests a second for 20 min; from the tenth on every second check fails, or an iteration is dropped."""
    rows = ["metric_name,timestamp,metric_value,expected_response,name,status"]
    for second in range(1200):
        for request in range(4):
            rows += [f"http_req_duration,{1772445600 + second},{90 + request},true,list,200"]
            rows += [f"checks,{1772445600 + second},{1 - (metric == 'checks' and second >= 600 and request % 2)},,,"]
        rows += [f"{metric},{1772445600 + second},1,,,"] if second >= 600 and metric != "checks" else []
    (tmp_path / "k6.csv").write_text("\n".join([*rows, ""]), encoding="utf-8")
    doubt = plimsoll.review(tmp_path / "k6.csv").review.doubts[0].reason
    said = {
        "checks": "checks of the load driver failed",
        "dropped_iterations": "iterations of the load driver were dropped",
    }
    assert doubt.endswith(f"% of the {said[metric]} for 10 min")
