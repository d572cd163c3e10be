"""Sources that are computed together have the same values as sources computed alone."""

from itertools import product

import numpy as np

from plimsoll.model.file_models import parse_content
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.pack import Condition
from plimsoll.rules.schema.signal import Transform
from plimsoll.rules.signal_finder import ResolvedFields, ResolvedRequestTime, ResolvedSeries
from plimsoll.rules.signal_values import SignalValues
from tests.each import run_each

AS_IS, SCALED = Transform(), Transform(scale=0.001, offset=2.0)
KINDS = {
    "a rate of two fields": lambda a, b: ResolvedFields("ratio", (a, b), True, SCALED),
    "a sum of two fields": lambda a, b: ResolvedFields("sum", (a, b), False, SCALED),
    "a time per request": lambda a, b: ResolvedRequestTime(
        ResolvedSeries(a, False, SCALED), ResolvedSeries(b, False, AS_IS)
    ),
    "a time per counted request": lambda a, b: ResolvedRequestTime(
        ResolvedFields("ratio", (a, b), True, AS_IS), ResolvedSeries(b, True, AS_IS)
    ),
    "a time of unknown requests": lambda a, b: ResolvedRequestTime(ResolvedSeries(a, False, AS_IS), None),
}
AT = np.arange(0, 700, 10, dtype=np.int64) * SECOND


def fleet(random, *, alike):
    """Samples of some hosts: gaps, resets, idle intervals; and series without a sample, unless all are alike."""
    fields = {}
    for host in range(12):
        rows = 60 if alike else int(random.integers(0, 60))
        times = np.sort(random.choice(600, rows, replace=False)).astype(np.int64) * SECOND
        for field in "ab":
            values = np.cumsum(random.integers(0, 4, rows)) * (1.0 - 0.9 * (random.random(rows) < 0.1))
            if not alike:
                values[random.random(rows) < random.choice([0, 0.2])] = np.nan
            fields[Series(f"H{host}", "m", (), field)] = Samples(times, values, declared=10 * SECOND)
    return fields


@run_each(product(KINDS, ["mean", "max", "min", "sum", "count", "last", "increase"], [True, False]), str)
def test_what_is_computed_together_is_as_alone(case):
    kind, reduce, alike = case
    for seed in range(4):
        samples = fleet(np.random.default_rng(seed), alike=alike)
        values = SignalValues(samples.__getitem__, lambda subject, fact: 1.0)
        condition = parse_content(Condition, {"signal": "s.t", "healthy": "< 1", "over": "45s", "reduce": reduce})
        origins = [KINDS[kind](*(Series(f"H{host}", "m", (), field) for field in "ab")) for host in range(12)]
        alone = [values.rows(condition, [origin], AT)[0] for origin in origins]
        np.testing.assert_array_equal(values.rows(condition, origins, AT), np.array(alone))
