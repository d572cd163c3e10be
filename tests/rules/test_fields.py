"""Sources of several fields: what is found, and what it gives beside the worked cases of docs/evaluation.md."""

import numpy as np
import pytest
from pydantic import ValidationError

from plimsoll.model.file_models import parse_content
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.review.recorded_signals import compute_signal_samples
from plimsoll.rules.schema.signal import Signal, Source
from plimsoll.rules.signal_finder import Finder, ResolvedFields, ResolvedSeries, list_read_series

WAIT = {"measurement": "diskio", "field": {"ratio": ["read_time", "reads"]}, "instance": "name", "rate": True}


def signal(*sources):
    return {"s.s": parse_content(Signal, {"title": "t", "unit": "u", "meaning": "m", "instances": "each", "sources": sources})}  # fmt: skip


def field(name, host="h", disk="sda", measurement="diskio"):
    return Series(host, measurement, (("name", disk),), name)


def outcome(series, *sources, empty=()):
    return Finder(signal(*sources), series, lambda item: item.field not in empty).find("s.s")


def test_fields_of_one_thing_are_put_together():
    series = [field(name, disk=disk) for name in ("reads", "read_time") for disk in ("sda", "sdb")]
    origins = outcome(series, WAIT)
    assert {key: [item.field for item in list_read_series(origin)] for key, (_, origin) in origins.items()} == {
        ("h", "sda"): ["read_time", "reads"],
        ("h", "sdb"): ["read_time", "reads"],
    }
    assert all(
        {item.tag("name") for item in list_read_series(origin)} == {key[1]} for key, (_, origin) in origins.items()
    )


@pytest.mark.parametrize("lacking", ["reads", "read_time"])
def test_the_next_source_is_taken_where_a_field_is_not_recorded_or_empty(lacking):
    made_up = {"measurement": "diskio", "field": "r_await", "instance": "name"}
    series = [field(name) for name in ("reads", "read_time", "r_await")]
    assert isinstance(outcome(series, WAIT, made_up)["h", "sda"][1], ResolvedFields)
    assert isinstance(outcome(series, WAIT, made_up, empty=(lacking,))["h", "sda"][1], ResolvedSeries)
    result = [item for item in series if item.field != lacking]
    assert isinstance(outcome(result, WAIT, made_up)["h", "sda"][1], ResolvedSeries)


@pytest.mark.parametrize(("processors", "scale"), [(4.0, 0.5), (None, None)])
def test_a_source_for_each_processor_gives_nothing_where_nobody_knows_how_many_there_are(processors, scale):
    load = {
        "measurement": "queue",
        "field": "ldavg-1",
        "instance": "name",
        "per": "processors",
        "transform": {"scale": 2},
    }
    finder = Finder(signal(load), [field("ldavg-1", measurement="queue")], lambda item: True, lambda *_: processors)
    origins = [origin for _, origin in finder.find("s.s").values()]
    assert [origin.transform.scale for origin in origins if isinstance(origin, ResolvedSeries)] == (
        [scale] if scale else []
    )


def test_instances_that_are_left_out_may_be_named_by_a_part():
    reads = {"measurement": "diskio", "field": "reads", "instance": "name", "but": ["loop*", "[a]"]}
    series = [field("reads", disk=name) for name in ("sda", "loop0", "LOOP12", "[a]", "a")]
    assert {key[1] for key in outcome(series, reads)} == {"sda", "a"}


def test_what_is_drawn_is_what_pairs_of_samples_give():
    values = {"read_time": [0, 50, 50, 90, 10], "reads": [0, 10, 10, 20, 5]}
    times = np.arange(5, dtype=np.int64) * 10 * SECOND
    ((_, origin),) = outcome([field(name) for name in values], WAIT).values()
    samples = compute_signal_samples(origin, lambda item: Samples(times, np.array(values[item.field], dtype=float)))
    assert samples is not None
    assert [*zip((samples.times // SECOND).tolist(), samples.values.tolist(), strict=True)] == [(10, 5.0), (30, 4.0)]


@pytest.mark.parametrize("wrong", [{}, {"sum": ["a"]}, {"sum": ["a", "b"], "ratio": ["a", "b"]}, {"ratio": ["a", "a"]}])
def test_several_fields_are_one_operation_of_two_at_least(wrong):
    with pytest.raises(ValidationError):
        parse_content(Source, {"measurement": "m", "field": wrong})
