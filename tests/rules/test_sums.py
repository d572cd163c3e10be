"""Sums over the instances of a host, and processors that two objects number differently."""

import numpy as np
import pytest

from plimsoll.model.file_models import parse_content
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.evaluate import RuleEvaluator
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_finder import Finder, find_source
from plimsoll.rules.states import State, list_evaluation_times
from plimsoll.rules.subjects import Instances, Subject

SIGNALS = load_signals()
RULES = load().rules


def counter(object_, measurement, field, instance):
    return Series("FS1", measurement, (("instance", instance), ("objectname", object_)), field)


def queue(instance):
    return counter("Server Work Queues", "win_server_work_queues", "Queue_Length", instance)


def busy(instance, object_="Processor"):
    return counter(object_, "win_cpu", "Percent_Processor_Time", instance)


def judged(rule, recorded, processors=4.0):
    samples = {
        series: Samples(np.arange(len(values), dtype=np.int64) * 10 * SECOND, np.array(values, dtype=float))
        for series, values in recorded.items()
    }
    finder = Finder(SIGNALS, list(samples), lambda item: bool(len(samples[item].present.times)))
    judge = RuleEvaluator(finder.find, samples.__getitem__, lambda subject, fact: processors)
    return list(
        judge.evaluate(RULES[rule], lambda subject: list_evaluation_times(np.arange(90, dtype=np.int64) * 10 * SECOND))
    )


def test_queues_are_added_up_without_the_blocking_queue_and_without_totals():
    queues = {queue(name): [3.0] * 90 for name in ("0", "1", "2", "3")}
    fields = {queue("Blocking Queue"): [500.0] * 90, queue("_Total"): [900.0] * 90}
    (track,) = judged("server-work-queues-total", {**queues, **fields, busy("_Total"): [95.0] * 90})
    assert track.subject == Subject("FS1")
    assert set(track.values) == {12.0}
    assert (track.states == State.FIRING).any()


def test_a_sum_is_of_the_instances_that_have_data():
    queues = {queue("0"): [3.0] * 90, queue("1"): [2.0] * 30 + [np.nan] * 60, queue("2"): [np.nan] * 90}
    (track,) = judged("server-work-queues-total", {**queues, busy("_Total"): [95.0] * 90})
    assert (track.values[0], track.values[-1]) == (5.0, 3.0)


def test_no_instance_with_data_is_no_data():
    (track,) = judged("server-work-queues-total", {queue("0"): [np.nan] * 90, busy("_Total"): [95.0] * 90})
    assert np.isnan(track.values).all()


@pytest.mark.parametrize(
    ("processor", "object_"), [("5", "Processor"), ("0,5", "Processor Information"), ("1,1", "Processor Information")]
)
def test_a_queue_is_joined_to_its_processor_however_that_is_written(processor, object_):
    """With nodes of four processors each, 1,1 is the sixth processor."""
    node = {busy(f"0,{number}", object_): [5.0] * 90 for number in range(4)} if processor == "1,1" else {}
    recorded = {**node, busy(processor, object_): [95.0] * 90, queue("5"): [9.0] * 90}
    (track,) = [item for item in judged("server-work-queue", recorded) if item.subject.instance == "5"]
    assert (track.states == State.FIRING).any()


def test_a_processor_is_not_guessed_where_the_node_before_it_was_not_recorded():
    assert Instances(["1,1", "1,0"]).same("5") is None
    assert Instances(["0,_Total", "_Total", "cpu1"]).same("1") is None
    assert Instances(["0", "4"]).same("1,0") is None
    assert Instances(["0", "4"]).same("0,4") == "4"


def test_other_instances_are_joined_by_their_names_alone():
    signals = {
        "a.a": parse_content(
            Signal,
            {
                "title": "a",
                "unit": "u",
                "meaning": "m",
                "instances": "each",
                "sources": [{"measurement": "m", "field": "x", "instance": "i"}],
            },
        )
    }
    origins = Finder(signals, [Series("H", "m", (("i", "0 C:"),), "x")], lambda item: True).find("a.a")
    assert find_source(origins, Subject("h", "0 c:"))
    assert find_source(origins, Subject("h", "1 D:")) is None
