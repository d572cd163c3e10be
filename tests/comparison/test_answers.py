"""What a comparison answers: worse, not worse, or not known."""

from pathlib import Path

import numpy as np
import pytest

from plimsoll.comparison.compare import Comparison, RunSide
from plimsoll.comparison.doubts import list_doubts
from plimsoll.comparison.signal_settings import check_settings
from plimsoll.comparison.summary import Answer, answer, list_account, tell_story
from plimsoll.hosts.settings import Settings
from plimsoll.insights.insights import Insights
from plimsoll.model.styled import join_lines
from plimsoll.report.comparison.document import format_lines
from plimsoll.rules.load import load_signals
from tests.simulated import a_log, ar1, reviewed

ROWS = 720
AT_THE_END, FOR_LONG = np.arange(ROWS) > 600, np.arange(ROWS) // 50 == 6
CPU = r"\Processor(_Total)\% Processor Time"
REQUESTS = r"\Web Service(_Total)\Total Method Requests/sec"
CONNECTIONS = r"\Web Service(_Total)\Current Connections"
MEMORY = r"\Process(w3wp)\Private Bytes"
TRANSFERS = r"\PhysicalDisk(0 C:)\Disk Transfers/sec"
QUEUE = r"\PhysicalDisk(0 C:)\Current Disk Queue Length"
READ = r"\PhysicalDisk(0 C:)\Avg. Disk sec/Read"


LATE = np.arange(ROWS) > 0.7 * ROWS


def a_run(seed, changed=None, without=None):
    rng = np.random.default_rng(seed)

    def noisy(mean):
        return mean * (1 + ar1(rng, ROWS, deviation=0.05))

    columns = {CPU: noisy(50), REQUESTS: noisy(500), CONNECTIONS: noisy(200), MEMORY: noisy(8e8), READ: noisy(0.005)}
    columns |= {path: change(columns[path]) for path, change in (changed or {}).items()}
    return {path: values for path, values in columns.items() if path != without}


def compared(first, second):
    item, other = (RunSide(name, name, Insights(reviewed(a_log(run)))) for name, run in (("a", first), ("b", second)))
    return Comparison(item, other, check_settings(Settings().compare, Path("plimsoll.toml"), load_signals()))


@pytest.mark.parametrize(
    ("changed", "expected", "output"),
    [
        ({}, Answer.NOT_WORSE, "Nothing became worse or better."),
        (
            {CPU: lambda item: 1.15 * item},
            Answer.WORSE,
            "b is worse than a: processor time of SUT rose from",
        ),
        ({REQUESTS: lambda item: 0.8 * item}, Answer.WORSE, "Apart from the throughput, nothing became worse"),
        (
            {REQUESTS: lambda item: np.where(LATE, 0.4 * item, item)},
            Answer.WORSE,
            "Throughput was lost in b: Web requests of",
        ),
        (
            {MEMORY: lambda item: item + np.linspace(0, 2e9, ROWS)},
            Answer.UNKNOWN,
            "In b, and not in a, there is a trend",
        ),
        ({CPU: lambda item: np.where(np.arange(ROWS) > 600, 93, item)}, Answer.WORSE, "b is worse"),
        (
            {READ: lambda item: np.where(AT_THE_END, 2.4 * item, item)},
            Answer.WORSE,
            "peaks of disk read latency",
        ),
        (
            {REQUESTS: lambda item: np.where(FOR_LONG, 0, item)},
            Answer.WORSE,
            "web requests stalled for",
        ),
        (
            {CONNECTIONS: lambda item: item * np.linspace(1, 9, ROWS)},
            Answer.UNKNOWN,
            "Nothing became worse or better",
        ),
    ],
    ids=[
        "alike",
        "busier",
        "less throughput",
        "throughput that falls in the run",
        "a leak",
        "a limit crossed at the end",
        "slow at the end",
        "one stall",
        "connections pile up",
    ],
)
def test_the_answer(changed, expected, output):
    result = compared(a_run(1), a_run(2, changed))
    assert (answer(result), list_doubts(result) if expected == Answer.NOT_WORSE else []) == (expected, [])
    assert output in " ".join(tell_story(result))


@pytest.mark.parametrize(
    ("trouble", "output"),
    [
        ({CPU: lambda item: 94 + 0 * item}, "b is better: processor time of SUT fell"),
        ({READ: lambda item: np.where(LATE, 9 * item, item)}, "b is better"),
        (
            {REQUESTS: lambda item: np.where(LATE, 0.3 * item, item)},
            "throughput is not lost (a: Web requests of",
        ),
    ],
)
def test_what_became_better(trouble, output):
    result = compared(a_run(1, trouble), a_run(2))
    assert output in " ".join(tell_story(result))
    assert answer(result) == Answer.NOT_WORSE


def lost(path, rows=slice(None)):
    """A run of which a counter has no value in some rows."""
    run = a_run(2)
    run[path] = run[path].copy()
    run[path][rows] = np.nan
    return run


def of_two_hosts(name, first, second):
    return RunSide(name, name, Insights(reviewed(a_log(first, "APP1"), a_log(second, "APP2"))))


def test_processors_that_one_of_two_hosts_no_longer_records_leave_it_open():
    sides = of_two_hosts("a", a_run(1), a_run(2)), of_two_hosts("b", a_run(3), a_run(4, without=CPU))
    comparison = Comparison(*sides, check_settings(Settings().compare, Path("plimsoll.toml"), load_signals()))
    assert answer(comparison) == Answer.UNKNOWN
    assert list_doubts(comparison) == ["b does not record Processor time of APP2"]


def test_processors_that_are_lost_in_the_run_leave_it_open():
    result = compared(a_run(1), lost(CPU, slice(400, None)))
    assert answer(result) == Answer.UNKNOWN
    assert "in b the processors of SUT were not recorded for the last 26 min" in list_doubts(result)[0]


def test_a_run_that_was_interrupted_as_the_baseline_was_not_leaves_it_open():
    def blank(run, first):
        return {
            path: np.where((np.arange(len(values)) // 100) == first, np.nan, values) for path, values in run.items()
        }

    result = compared(a_run(1), blank(a_run(2), 3))
    assert answer(result) == Answer.UNKNOWN
    assert list_account(result)[0].startswith("In b nothing was recorded of SUT for 8 min 25 s of 59 min")
    assert answer(compared(blank(a_run(1), 5), blank(a_run(2), 3))) == Answer.NOT_WORSE


def test_a_critical_limit_that_the_baseline_was_far_from_leaves_it_open_however_briefly_it_was_crossed():
    def of_disk(run, hung):
        transfers, queue = run[REQUESTS] / 5, np.where(hung, 9.0, run[READ] * 20)
        return run | {TRANSFERS: np.where(hung, 0.0, transfers), QUEUE: queue}

    rows = np.arange(ROWS)
    result = compared(of_disk(a_run(1), rows < 0), of_disk(a_run(2), (rows > 300) & (rows < 345)))
    assert answer(result) == Answer.UNKNOWN
    assert "in b Disk transfers of SUT, 0 C: went to its limit for 3 min 40 s" in list_doubts(result)[0]


@pytest.mark.parametrize(
    ("rows", "expected", "output"),
    [
        (100, Answer.UNKNOWN, "too little to compare"),
        (300, Answer.NOT_WORSE, "b has 24 min 55 s of steady phase, a 59 min 55 s."),
        (500, Answer.NOT_WORSE, ""),
    ],
)
def test_a_run_that_is_much_shorter_is_said_or_leaves_it_open(rows, expected, output):
    result = compared(a_run(1), {path: values[:rows] for path, values in a_run(2).items()})
    assert answer(result) == expected
    assert output in " ".join([*tell_story(result), *list_doubts(result)])


def test_what_became_slower_within_its_own_tolerance_is_said():
    result = compared(a_run(1), a_run(2, {READ: lambda item: 1.1 * item}))
    assert answer(result) == Answer.NOT_WORSE
    assert "within the 15 % that are tolerated" in tell_story(result)[2]


def test_work_that_the_other_run_does_not_record_leaves_it_open():
    result = compared(a_run(1), a_run(2, without=REQUESTS))
    assert answer(result) == Answer.UNKNOWN
    assert list_doubts(result) == ["b does not record the work that was done: Web requests"]


SENT = r"\Network Interface(eth0)\Bytes Sent/sec"


@pytest.mark.parametrize(
    ("path", "changed", "expected", "output"),
    [
        (
            SENT,
            (CPU, SENT),
            Answer.NOT_WORSE,
            "The load was not the same in the steady phase: bytes sent rose",
        ),
        (SENT, (CPU,), Answer.WORSE, "The load was the same in the steady phase: bytes sent"),
        (TRANSFERS, (CPU, TRANSFERS), Answer.UNKNOWN, "another load may be why these differ: processor time"),
        (TRANSFERS, (CPU,), Answer.WORSE, "No load was recorded in both runs"),
    ],
    ids=["bytes as well", "bytes the same", "disks as well", "disks the same"],
)
def test_where_no_load_is_known_what_rose_with_the_work_is_not_worse(path, changed, expected, output):
    def run(seed, factor=1.0):
        rng = np.random.default_rng(seed)
        means = {CPU: 30, READ: 0.005, path: 100}
        return {
            name: mean * (factor if name in changed else 1.0) * (1 + ar1(rng, ROWS, deviation=0.05))
            for name, mean in means.items()
        }

    result = compared(run(1), run(2, 1.25))
    assert answer(result) == expected
    assert output in " ".join([*tell_story(result), *list_doubts(result)])


def test_a_limit_that_one_run_alone_crosses_is_no_usual_variation():
    """A fall of available memory that runs of one build may differ by, from above a critical limit to below it."""
    rng = np.random.default_rng(7)
    memory = {name: level + 5 * ar1(rng, ROWS, deviation=1) for name, level in (("a", 620), ("b", 450))}
    runs = [a_run(seed) | {r"\Memory\Available MBytes": memory[name]} for seed, name in ((1, "a"), (2, "b"))]
    comparison = compared(*runs)
    text = join_lines(format_lines([comparison]))
    assert answer(comparison) == Answer.UNKNOWN
    assert "b crossed a limit of it that a held" in text
    assert "uns of one build may" not in text
