"""Changes over a series of runs: what is said of few runs, and of what not all of them recorded."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from plimsoll.comparison.hosts import Key
from plimsoll.comparison.signal_settings import check_settings
from plimsoll.comparison.trend import RunMeans, compute_history_trend
from plimsoll.hosts.settings import Settings
from plimsoll.report.comparison.trend import format_junit, format_lines
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

CPU = "cpu.busy"


def runs(count, hosts, changed_from=None, lacking=(), deviation=0.01, name=CPU, by=1.25):
    """Runs of hosts whose signal `name` differs by `deviation`; that of the first one rises by the factor `by`."""
    rng = np.random.default_rng(count + hosts)
    signal = load_signals()[name]
    for at in range(count):
        subjects: dict[tuple[str, Key], tuple[Signal, Subject]] = {
            (name, one.key): (signal, one) for one in (Subject(f"web{host}", None) for host in range(hosts))
        }
        means = {key: 40 * np.exp(deviation * rng.standard_normal()) for key in subjects}
        if changed_from is not None and at >= changed_from:
            means[next(iter(means))] *= by
        for key in [key for key in subjects if at in lacking and key[1] == Subject("web1", None).key]:
            del subjects[key], means[key]
        yield RunMeans(f"night {at}", None, means, subjects, None)


def found_in(*arguments, **more):
    return compute_history_trend(
        list(runs(*arguments, **more)), check_settings(Settings().compare, Path("plimsoll.toml"), load_signals())
    )


def shown(found):
    return "\n".join(
        "".join(part if isinstance(part, str) else part[0] for part in line) for line in format_lines(found)
    )


def test_a_change_is_seen_near_the_end_and_of_few_runs():
    for count, since in ((8, 4), (16, 12), (16, 13), (16, 3)):
        (change,) = found_in(count, 20, changed_from=since).changes
        assert (change.run.name, change.subject.host, change.is_worse) == (f"night {since}", "web0", True)


def test_slower_responses_are_seen_in_a_series_though_two_runs_may_differ_by_as_much():
    (change,) = found_in(24, 2, changed_from=12, deviation=0.03, name="client.response_time", by=1.15).changes
    assert (change.run.name, change.is_worse) == ("night 12", True)


def test_that_nothing_changed_is_said_with_what_could_be_seen():
    found = found_in(16, 20)
    assert found.changes == ()
    assert "A change since one of the runs from night 3 to night 13 could be seen of half of the signals" in shown(
        found
    )
    assert 0.01 < found.visible(0.5) < 0.2
    unlike = found_in(8, 3, deviation=0.4)
    assert (unlike.changes, unlike.can_tell) == ((), False)
    assert shown(unlike).startswith("Not known. 3 signals of 8 runs")
    (error,) = ElementTree.fromstring(format_junit(unlike)).iter("error")
    assert "to tell a change of one of 3 signals" in error.get("message", "")


def test_runs_of_one_build_have_no_change():
    assert [count for count in range(8, 28) if found_in(count, 15, deviation=0.05).changes] == []


@pytest.mark.parametrize("changed_from", [None, 12])
def test_a_change_is_told_with_its_run(changed_from):
    found = found_in(24, 3, changed_from=changed_from)
    if changed_from is None:
        assert shown(found).startswith("Nothing changed. 3 signals of 24 runs")
    else:
        (change,) = found.changes
        assert (change.run.name, change.subject.host, change.is_worse) == ("night 12", "web0", True)
        assert re.search(r"worse +night 12 +Processor time +web0 +rose from ", shown(found))


def test_what_not_all_runs_recorded_is_named():
    found = found_in(24, 2, lacking=(3, 5))
    assert (len(found.courses), [name for name, _, _ in found.partly]) == (1, [CPU])
    assert "Not looked at, as not all runs have them: Processor time." in shown(found)


def test_a_signal_that_became_worse_fails_its_case():
    found = ElementTree.fromstring(format_junit(found_in(24, 3, changed_from=12)))
    assert {name: found.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "4",
        "failures": "1",
        "errors": "0",
    }
    (failed,) = found.findall(".//testcase[failure]")
    assert failed.get("name") == "cpu.busy on web0"
    assert failed[0].get("message", "").startswith("since night 12: Processor time rose from ")
