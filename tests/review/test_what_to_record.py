"""What a review tells people to record is judged once they do, and who wants less judged says so."""

import json
import re

import pytest

ROWS = 360  # an hour, every 10 s
SWITCHES = r"System\Context Switches/sec"
CPU = r"Processor(*)\% Processor Time"
MEMORY = r"Memory\Available MBytes"
IDLE = r"PhysicalDisk(*)\% Idle Time"
LATENCY = r"PhysicalDisk(*)\Avg. Disk sec/Transfer"
# Of each counter that may be advised: a value that is well, and one that is not.
VALUES = {
    CPU: (20, 97),
    MEMORY: (8000, 200),
    r"Memory\Pages/sec": (5, None),
    IDLE: (90, 0.5),
    LATENCY: (0.002, 0.09),
    r"Network Interface(*)\Bytes Sent/sec": (60_000, 122_000_000),
    r"Network Interface(*)\Bytes Received/sec": (40_000, 122_000_000),
    r"Network Interface(*)\Current Bandwidth": (10**9, None),
}
INSTANCES = {"Processor": "_Total", "PhysicalDisk": "0 C:", "Network Interface": "Intel[R] I219-V"}
SICK = [path for path, (_, bad) in VALUES.items() if bad is not None]


@pytest.fixture
def reviewed(plimsoll, tmp_path):
    """Reviews a host by its columns: a number, or a list of values every 10 s. The outcome and the JSON.

    Memory moves a little: of a running host not all stands still.
    """

    def call(columns, *arguments, toml=""):
        lists = {path: [value] * ROWS if isinstance(value, int | float) else value for path, value in columns.items()}
        if MEMORY in lists:
            lists[MEMORY] = [value + at % 3 / 10 for at, value in enumerate(lists[MEMORY])]
        rows = [",".join(['"(PDH-CSV 4.0) (UTC)(0)"', *(rf'"\\WEB01\{_path(path)}"' for path in lists)])]
        for at, values in enumerate(zip(*lists.values(), strict=True)):
            stamp = f"01/15/2026 {10 + at // 360:02}:{at // 6 % 60:02}:{at % 6 * 10:02}.000"
            rows.append(",".join([f'"{stamp}"', *(f'"{value}"' for value in values)]))
        (tmp_path / "log.csv").write_text("\r\n".join(rows) + "\r\n")
        if toml:
            (tmp_path / "plimsoll.toml").write_text(toml)
        done = plimsoll("review", tmp_path / "log.csv", "--details", "--json", tmp_path / "r.json", *arguments)
        return done, json.loads((tmp_path / "r.json").read_text())

    return call


def _path(advised):
    return advised.replace("*", INSTANCES.get(advised.partition("(")[0], "*"))


def _good(paths):
    return {path: VALUES[path][0] for path in paths}


def _counters(text):
    return [one.strip() for one in re.split("[,;] ", text)]


def test_a_host_is_healthy_once_what_the_headline_advises_is_recorded(reviewed):
    _, before = reviewed({SWITCHES: 900})
    said = re.fullmatch(r"Not known\. .* of WEB01 were not judged; record (.+)\.", before["headline"])
    assert said, before["headline"]
    _, after = reviewed({SWITCHES: 900, **_good(_counters(said[1]))})
    assert after["headline"].startswith("Healthy. "), after["headline"]


def test_what_was_not_ruled_out_is_once_it_is_recorded(reviewed):
    before, _ = reviewed({SWITCHES: 900})
    (said,) = re.findall(r"Not ruled out: .*? Record (.+)\.", before.out)
    assert set(_counters(said)) == set(VALUES)
    after, found = reviewed({SWITCHES: 900, **_good(_counters(said))})
    assert "Not ruled out" not in after.out
    assert found["verdict"] == "healthy"


@pytest.mark.parametrize("sick", SICK)
def test_each_counter_that_is_advised_is_judged(sick, reviewed):
    """That a disk is never idle is no matter where its requests are known to be fast."""
    known = [path for path in VALUES if not (sick == IDLE and path == LATENCY)]
    _, found = reviewed({SWITCHES: 900, **_good(known), sick: VALUES[sick][1]})
    assert found["verdict"] == "not-healthy", found["headline"]


PATIENT = "".join(
    f'[rules.{rule}]\nfor = "10m"\noften = "100 %"\nreason = "a batch host"\n'
    for rule in ("cpu-busy", "cpu-pinned", "windows-cpu-busy-critical")
)


def test_a_resource_that_limits_the_run_is_a_doubt_where_no_limit_was_crossed(reviewed):
    """At 97 % for nine of ten minutes, where a crossing counts after ten."""
    busy = ([97] * 54 + [20] * 6) * 6
    _, found = reviewed({SWITCHES: 900, **_good(VALUES), CPU: busy}, toml=PATIENT)
    assert found["headline"] == (
        "Not known. 15 warning and critical thresholds held, but the processors of WEB01 limit this run. plimsoll.toml changes 3 limits: "
        "cpu-busy, windows-cpu-busy-critical, cpu-pinned."
    )


def test_a_crossing_of_more_than_half_of_what_counts_is_a_doubt_in_a_short_log(reviewed):
    columns = {path: [value] * 50 for path, value in _good(VALUES).items()}
    _, found = reviewed(columns | {CPU: [20] * 12 + [88] * 26 + [20] * 12})
    assert found["headline"] == (
        "Not known. 14 warning and critical thresholds held, but the recording is too short to judge a threshold that was crossed in it: "
        "Processor time of WEB01 went above its limit for 4 min 20 s, at worst 88 % (1 min mean); it should stay below "
        "80 %, and a crossing counts after 5 min."
    )


@pytest.mark.parametrize(
    ("judge", "columns", "headline"),
    [
        (
            '["cpu"]',
            {CPU: 20},
            "Processors healthy; nothing else was judged. Every judged warning and critical threshold "
            "held; closest was Processor time of WEB01 with 20 % (1 min mean), limit < 80 %.",
        ),
        (
            '["memory"]',
            {MEMORY: 8000},
            "Memory healthy; nothing else was judged. Every judged warning and critical threshold held; "
            "closest was Available memory of WEB01 with 7.81 GB (1 min mean), limit ≥ 1,000 MB.",
        ),
        (
            '["cpu", "memory"]',
            {CPU: 20},
            "Not known. 3 warning and critical thresholds held, but the memory of WEB01 was not judged; record Memory\\Available MBytes, "
            "Memory\\Pages/sec.",
        ),
        (
            '["cpu"]',
            {MEMORY: 8000},
            "Not known. 3 warning and critical thresholds held, but the processors of WEB01 were not judged; record "
            "Processor(*)\\% Processor Time.",
        ),
    ],
)
def test_who_wants_less_judged_is_told_that_nothing_else_was(judge, columns, headline, reviewed):
    _, found = reviewed(columns, toml=f"[run]\njudge = {judge}\n")
    assert found["headline"] == headline


def test_packs_chosen_alone_are_all_that_was_asked(reviewed):
    _, found = reviewed({CPU: 20}, "--only", "operating-system")
    assert found["headline"] == (
        "Processors healthy; nothing else was judged. Every judged warning and critical threshold held; "
        "closest was Processor time of WEB01 with 20 % (1 min mean), limit < 80 %."
    )


def test_a_resource_that_is_none_is_refused(plimsoll, reviewed, tmp_path):
    reviewed({SWITCHES: 900})
    (tmp_path / "plimsoll.toml").write_text('[run]\njudge = ["cpus"]\n')
    done = plimsoll("review", tmp_path, "--details")
    assert done.status == 2
    assert done.err.endswith("plimsoll.toml: run.judge.1: input should be 'cpu', 'memory' or 'disk'\n")


def test_a_field_that_limits_need_beside_recorded_fields_is_named(reviewed):
    """Committed memory is judged by its share of the limit, which the log lacks."""
    _, document = reviewed({CPU: 20, MEMORY: 8000, IDLE: 90, r"Memory\Committed Bytes": 4e9})
    (remark,) = (remark["text"] for remark in document["remarks"] if "beside it" in remark["text"])
    assert remark.startswith(
        "win_mem.Commit_Limit of web01 was not recorded, although fields that limits need beside it"
    )
