"""The cases of rules as unit tests for `promtool test rules` and `vmalert-tool unittest`.

The cases of a pack that are about as long stand side by side, each on a host of its own, as every test evaluates every
rule of the pack. Cases of hours are in a file of their own, and are evaluated less often.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from plimsoll.export.prometheus.rules import Made, Options
from plimsoll.export.prometheus.samples import notation, series_of
from plimsoll.export.prometheus.selectors import duration, text
from plimsoll.model.times import SECOND
from plimsoll.rules.cases import operands, run_case
from plimsoll.rules.schema.pack import Case, Rule
from plimsoll.rules.schema.signal import Signal

_HOUR = 3600 * SECOND
_SHORTEST = 600 * SECOND
_LONG_EVERY = 120 * SECOND


@dataclass(frozen=True)
class Tested:
    """A rule, and an alerting rule that was made from it."""

    rule: Rule
    made: Made


@dataclass(frozen=True)
class UnitTests:
    """A file of tests: what is added to the name of the pack, how often it evaluates (ns), and how many cases."""

    suffix: str
    every: int
    groups: Sequence[Mapping[str, object]]
    cases: int


@dataclass
class _Group:
    """Cases of about the same length."""

    series: dict[str, str] = field(default_factory=dict[str, str])
    tests: list[Mapping[str, object]] = field(default_factory=list[Mapping[str, object]])

    def document(self, interval: int) -> Mapping[str, object]:
        series = [{"series": name, "values": values} for name, values in self.series.items()]
        return {"interval": duration(interval), "input_series": series, "promql_expr_test": self.tests}


def unit_tests(rules: Sequence[Tested], signals: Mapping[str, Signal], options: Options) -> Iterator[UnitTests]:
    """Yield the files of tests of the rules for all hosts. Expected is what Plimsoll makes of the same samples."""
    groups: dict[int, _Group] = {}
    for one in rules:
        if one.made.target.name:
            continue
        for case in one.rule.cases:
            asked = _as_sampled(case, one.made, options)
            host = f"{one.rule.id}/{case.name}/{one.made.labels['counters']}"
            length = max((len(values) for values in asked.series.values()), default=1) * asked.interval
            upto = _SHORTEST
            while upto < length:
                upto *= 2
            group = groups.setdefault(upto, _Group())
            group.series |= _series(one.made, asked, host, signals)
            fires = bool(_fires(one.made, asked, signals))
            group.tests.append(_expected(one.made, host, length - asked.interval, fires=fires))
    for suffix, every, chosen in (
        ("", options.every, [one for upto, one in sorted(groups.items()) if upto <= 2 * _HOUR]),
        (".long", max(_LONG_EVERY, options.every), [one for upto, one in sorted(groups.items()) if upto > 2 * _HOUR]),
    ):
        if chosen:
            told = [one.document(options.interval) for one in chosen]
            yield UnitTests(suffix, every, told, sum(len(one.tests) for one in chosen))


def _as_sampled(case: Case, made: Made, options: Options) -> Case:
    """The case with the sampling interval of the export, the facts that the limits are for, and no known phase."""
    times = max(1, case.interval // options.interval)
    repeated = {name: [value for value in values for _ in range(times)] for name, values in case.series.items()}
    facts = {**made.target.factors}
    return case.model_copy(update={"series": repeated, "interval": options.interval, "facts": facts, "phase": None})


def _fires(made: Made, case: Case, signals: Mapping[str, Signal]) -> bool | None:
    """Whether the rule fires, as Plimsoll judges it; None if it has no data."""
    further = tuple(one.model_copy(update={"if_not_recorded": None}) for one in made.target.rule.and_)
    rule = made.target.rule.model_copy(update={"and_": further, "where": {}, "where_unknown": None})
    named = {leaf for one in rule.conditions for leaf in (one.signal, *operands(one.signal, signals))}
    used = {name: signals[name] for name in (*named, *case.series)}
    return next(
        fires
        for fires in dict.fromkeys((case.fires, True, False, None))
        if run_case(rule, case.model_copy(update={"fires": fires}), used) is None
    )


def _series(made: Made, case: Case, host: str, signals: Mapping[str, Signal]) -> dict[str, str]:
    """The series of a case; one that is a field of several sources has the value of the one that is only that field."""
    selections = [one for variant in made.sources.values() for one in variant.selections]
    found: dict[str, str] = {}
    for one in sorted(selections, key=lambda one: -len(one.source.fields)):
        for name, values in series_of(one, case, host, signals):
            if any(value is not None for value in values):
                found[name] = notation(values)
    return found


def _expected(made: Made, host: str, end: int, *, fires: bool) -> Mapping[str, object]:
    """The test that the alert fired at some time of the case, or never did."""
    place = next(iter(made.sources[made.target.rule.signal].selections)).host
    labels = f'alertname={text(made.alert)}, alertstate="firing", counters={text(made.labels["counters"])}'
    fired = f"ALERTS{{{labels}, {place}={text(host)}}}"
    return {
        "expr": f"count(count_over_time({fired}[{duration(end + SECOND)}]))",
        "eval_time": duration(end) if end else "0s",
        "exp_samples": [{"labels": "{}", "value": 1}] if fires else [],
    }
