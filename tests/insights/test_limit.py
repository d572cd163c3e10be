"""The bottleneck of a run: found in simulated runs with a known bottleneck, and never claimed if it is not recorded."""

import re
import zlib
from dataclasses import replace

import numpy as np
import pytest

from plimsoll.analysis.scalability import find_latency_knee
from plimsoll.analysis.significance import rank_correlation
from plimsoll.hosts.facts import Facts, find_recorded_facts
from plimsoll.insights.bottleneck.find import find_bottleneck
from plimsoll.insights.bottleneck.insight import summarize_bottleneck
from plimsoll.insights.bottleneck.reasons import list_sentences
from plimsoll.model.run import Run
from plimsoll.model.series import Series
from plimsoll.review.findings import Question
from plimsoll.review.review import review
from plimsoll.rules.load import load, load_signals
from tests.insights import saturation
from tests.simulated import a_log, ar1

PACKS, SIGNALS = load().packs, load_signals()


def limit_of(logs):
    facts = Facts({}, find_recorded_facts(logs))
    bottleneck = find_bottleneck(review(logs, Run(), Question(PACKS, SIGNALS), facts))
    assert bottleneck is not None
    return bottleneck


def text_of(values):
    return " ".join(sentence.text for sentence in list_sentences(values))


@pytest.mark.parametrize("kind", saturation.KINDS)
def test_the_limit_of_a_simulated_run_is_found(kind):
    assert limit_of(saturation.simulate(saturation.planned(kind, 1))).kind == kind


def without(logs, objects):
    """The logs without the counters of some objects."""
    for log in logs:
        kept = [
            at
            for at, series in enumerate(log.series)
            if (series.tag("objectname") or series.measurement) not in objects
        ]
        yield replace(log, columns=tuple(log.columns[at] for at in kept), series=tuple(log.series[at] for at in kept))


OF = {
    "cpu": ("Processor", "Processor Information", "System", "Process", "cpu", "system"),
    "disk": ("PhysicalDisk", "LogicalDisk", "diskio"),
    "memory": ("Memory", "mem", "kernel_vmstat", "SQLServer:Buffer Manager"),
    "network": ("Network Interface", "net"),
}


@pytest.mark.parametrize("kind", OF)
def test_what_is_not_recorded_is_named_and_nothing_else_is_blamed(kind):
    limit = limit_of(list(without(saturation.simulate(saturation.planned(kind, 0)), OF[kind])))
    assert not limit.confident, text_of(limit)
    assert "not recorded" in text_of(limit) or "not clear" in text_of(limit)


ROWS = 360
USERS = np.linspace(20, 400, ROWS)
CPU, QUEUE, SWITCHES = (
    r"\Processor(_Total)\% Processor Time",
    r"\System\Processor Queue Length",
    r"\System\Context Switches/sec",
)
IDLE, WAIT = r"\PhysicalDisk({})\% Idle Time", r"\PhysicalDisk({})\Avg. Disk sec/Transfer"
FREE, PAGES = r"\Memory\Available MBytes", r"\Memory\Pages/sec"
SENT, LINK = r"\Network Interface(eth)\Bytes Sent/sec", r"\Network Interface(eth)\Current Bandwidth"
SESSIONS, SEARCHES = r"\NTDS\LDAP Client Sessions", r"\NTDS\LDAP Searches/sec"


def noisy(level, deviation=0.02, seed=1):
    values = np.array(np.broadcast_to(np.asarray(level, float), ROWS))
    rng = np.random.default_rng([seed, zlib.crc32(values.tobytes())])  # other noise for other values
    return np.maximum(values * (1 + ar1(rng, ROWS, deviation=deviation)), 0)


def a_host(**options):
    """A host on which everything is recorded and has room."""
    columns = {CPU: noisy(20), QUEUE: noisy(0.2), IDLE.format("0 C:"): noisy(90), WAIT.format("0 C:"): noisy(0.004)}
    columns |= {FREE: noisy(8000), PAGES: noisy(5), SENT: noisy(1e6), LINK: np.full(ROWS, 1e9)}
    return columns | options


def test_an_idle_machine_is_limited_by_nothing():
    limit = limit_of([a_log(a_host())])
    assert (limit.kind, limit.confident) == ("load", False)
    assert (
        summarize_bottleneck(limit) == "Nothing that was recorded limits this run: no resource came near its capacity."
    )
    assert "No load is recorded" in text_of(limit)


def test_waits_of_sql_server_stand_beside_the_disk_that_limits_and_say_nothing_alone():
    waits = r"\SQLServer:Wait Statistics(Cumulative wait time (ms) per second)\Page IO latch waits"
    of_disk = {IDLE.format("0 C:"): noisy(1), WAIT.format("0 C:"): noisy(0.06)}
    limit = limit_of([a_log(a_host(**of_disk, **{waits: noisy(4200)}))])
    assert limit.kind == "disk"
    assert "SQL Server says what waited: tasks waiting for data pages at 4.19." in text_of(limit)
    assert limit_of([a_log(a_host(**{waits: noisy(4200)}))]).kind == "load"


def test_what_was_near_its_capacity_for_a_time_had_no_room():
    """The median of the hour is that of an idle disk; for a tenth of the hour another disk is always busy."""
    busy = noisy(90)
    busy[: ROWS // 10] = 2
    limit = limit_of([a_log(a_host() | {IDLE.format("1 D:"): busy, WAIT.format("1 D:"): noisy(0.004)})])
    assert summarize_bottleneck(limit) == "Nothing that was recorded is known to limit this run as a whole."
    text = text_of(limit)
    assert re.search(r"For about \d+ min only: disk idle time of SUT, 1 D: was 10 % or less, at least 2 %\.", text)
    room = text[text.index("Room was left over the whole run, by medians: ") :]
    assert "processor time" in room
    assert "disk" not in room


def test_work_that_follows_the_load_is_limited_by_nothing_although_a_disk_is_always_busy():
    busy = {IDLE.format("1 D:"): noisy(1), WAIT.format("1 D:"): noisy(0.05)}
    limit = limit_of([a_log(a_host() | busy | {SESSIONS: USERS, SEARCHES: noisy(3 * USERS)})])
    assert (limit.kind, limit.confident) == ("load", False)
    assert summarize_bottleneck(limit) == "No resource is known to limit this run."  # its latency is past a limit
    assert "LDAP searches followed the load: from " in text_of(limit)


def test_a_process_of_one_thread_uses_all_of_one_processor():
    flat = np.minimum(USERS, 180)
    process = {r"\Process(slapd)\% Processor Time": noisy(flat / 1.8, 0.005), CPU: noisy(flat / 1.8 / 4 + 2)}
    item = {rf"\Processor({n})\% Processor Time": noisy(flat / 1.8 / 4 + 2, seed=n) for n in range(4)}
    limit = limit_of([a_log(a_host() | item | process | {SESSIONS: USERS, SEARCHES: noisy(3 * flat)})])
    assert (limit.kind, limit.confident, limit.instance) == ("cpu", True, "slapd")
    assert summarize_bottleneck(limit) == "The process slapd of SUT, which uses all of one processor, limits this run."


def a_directory(connect, processing, searches):
    """A host with a directory as Telegraf and a probe record it: latencies in ms, searches a second."""
    fields = {
        ("ldap_probe", "connect_ms"): connect,
        ("ldap_probe", "processing_ms"): processing,
        ("ldap_probe", "response_ms"): connect + processing,
        ("openldap", "operations_search_completed"): np.cumsum(searches) * 5,
    }
    log = a_log(a_host(), host="ldap01")
    series = tuple(Series("ldap01", name, (), field) for name, field in fields)
    return replace(log, series=log.series + series, columns=(*log.columns, *map(np.array, fields.values())))


def test_the_knee_of_the_latency_of_a_directory_is_found():
    """OpenLDAP 1.2: 8 ms up to 105 requests/s, at most 140/s."""
    offered = np.linspace(10, 190, ROWS)
    beyond = np.maximum(offered - 105, 0)
    limit = limit_of([a_directory(noisy(3 + beyond), noisy(5 + beyond / 20), np.minimum(offered, 140))])
    text = text_of(limit)
    assert re.search(
        r"LDAP response latency of ldap01 stayed near (7\.9\d*|8\.?\d*) ms up to 10\d /s, 7\d % of the", text
    )
    assert limit.kind == "queue"
    knee = find_latency_knee(np.minimum(offered, 140), 8 + beyond)
    assert knee is not None
    assert knee.rate == pytest.approx(107, abs=3)
    assert knee.highest == pytest.approx(140, abs=1)


def test_what_response_times_go_with_is_told_and_chance_is_not():
    rng = np.random.default_rng(3)
    length = np.exp(ar1(rng, ROWS, deviation=0.6))
    disk = {r"\PhysicalDisk(0 C:)\Avg. Disk Queue Length": length}
    wait = {r"\ASP.NET\Request Wait Time": 20 * length * np.exp(ar1(rng, ROWS, deviation=0.1))}
    assert "ASP.NET request wait time of SUT goes with disk queue length of SUT, 0 C:" in text_of(
        limit_of([a_log(a_host() | disk | wait)])
    )
    rows = [
        rank_correlation(ar1(np.random.default_rng(n), 120), ar1(np.random.default_rng(n + 500), 120), 2)
        for n in range(200)
    ]
    assert sum(item is not None and item.real for item in rows) <= 2


CONNECTIONS, REQUESTS, ANSWER = (
    r"\Web Service(_Total)\Current Connections",
    r"\Web Service(_Total)\Total Method Requests/sec",
    r"\ASP.NET\Request Execution Time",
)


def a_front(requests, answer_ms):
    return {CONNECTIONS: USERS, REQUESTS: noisy(requests), ANSWER: noisy(answer_ms)}


def test_what_is_not_recorded_may_limit_instead_of_the_software():
    """A slow service, a host without a log and a quota look the same: constant work, slow answers, room everywhere."""
    flat = np.minimum(USERS, 220)
    limit = limit_of([a_log(a_host() | a_front(flat, 50 * USERS / flat))])
    assert (limit.kind, limit.confident) == ("queue", False)
    assert "or something that is not recorded" in summarize_bottleneck(limit)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({}, None),
        ({ANSWER: noisy(50 * (1 + USERS / 400))}, "response times became longer"),
        ({ANSWER: None}, "response times are not recorded where the connections are held"),
        ({CONNECTIONS: None}, "the connections of clients are not recorded, or hardly changed"),
    ],
    ids=["answers stay", "answers slower", "no answers", "no connections"],
)
def test_a_load_is_too_small_only_where_answers_stay_as_fast(changed, why):
    columns = a_host() | a_front(USERS, 50) | changed
    limit = limit_of([a_log({path: values for path, values in columns.items() if values is not None})])
    assert limit.confident == (why is None)
    assert ("The load was too small" in text_of(limit)) == (why is None)
    assert why is None or why in text_of(limit)


@pytest.mark.parametrize(
    ("lowest", "output"),
    [(1_360, "Batch requests hardly changed"), (705, "The load that was asked for is not recorded")],
    ids=["steady", "twice as high but at the end"],
)
def test_a_load_that_doubled_is_not_said_to_have_hardly_changed(lowest, output):
    batches = np.full(ROWS, 1_453.0)
    batches[-ROWS // 20 :] = lowest
    limit = limit_of([a_log({r"\SQLServer:SQL Statistics\Batch Requests/sec": batches, CPU: np.full(ROWS, 30.0)})])
    assert output in text_of(limit)
    assert ("hardly changed" in text_of(limit)) == (lowest > 1_000)


def test_hosts_that_are_no_system_are_not_explained_by_each_other():
    flat = np.minimum(USERS, 260)
    busy = a_log(a_host() | {CPU: noisy(np.minimum(flat / 2.6, 99))}, host="web")
    directory = a_log(a_host() | {SESSIONS: USERS, SEARCHES: noisy(3 * flat)}, host="ldap")
    logs, facts = [busy, directory], Facts({}, {})
    together = find_bottleneck(review(logs, Run(), Question(PACKS, SIGNALS), facts))
    apart = find_bottleneck(review(logs, Run(), Question(PACKS, SIGNALS, apart=True), facts))
    alone = find_bottleneck(review([busy], Run(), Question(PACKS, SIGNALS), facts))
    assert together is not None
    assert apart is not None
    assert alone is not None
    assert (together.kind, together.host) == ("cpu", "web")
    assert "LDAP searches" in text_of(together)
    assert text_of(apart) == text_of(alone)
    assert "LDAP" not in text_of(apart)
