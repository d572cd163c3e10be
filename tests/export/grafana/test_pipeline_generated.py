"""Exported alert rules have the same states as rules/evaluate, for generated rules and data in a real InfluxDB.

States are compared at every evaluation, with gaps, hosts that vanish, flapping, resets of counters, hysteresis, further
conditions, instances, and limits that scale. Three differences described in docs/grafana.md are expected, exactly where
they occur: silence does not end pending; a condition whose other signal is silent is not judged, not even as false; and
after a silence of every subject, a rule that had fired goes on firing only past the limit itself.
"""

import random
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from plimsoll.export.grafana.alerts.alert_rules import Options, Refused, alert_rules
from plimsoll.hosts.facts import Facts, GivenFacts
from plimsoll.hosts.site import Site
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.evaluate import Judge
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_finder import Finder
from plimsoll.rules.states import State, Status, Truth, step
from plimsoll.rules.subjects import Subject
from tests.export.grafana.pipeline.evaluate import run
from tests.export.grafana.pipeline.states import State as Shown

CASES = 60
AGREE = 56
START = 1_700_000_400
STEPS = 40
DELAY = 30 * SECOND
SHOWN = {State.OK: Shown.NORMAL, State.NO_DATA: Shown.NORMAL, State.PENDING: Shown.PENDING, State.FIRING: Shown.ALERTING}  # fmt: skip
AT = (START + 10 * np.arange(STEPS, dtype=np.int64)) * SECOND
KINDS = ("gauge", "gauge", "gauge", "rate", "idle", "half", "sum", "difference", "ratio", "fields", "grown")
REDUCES = ("mean", "mean", "mean", "min", "max", "last", "sum", "count", "median", "increase")
HEALTHY = ("<", "<=", ">", ">=")


@dataclass
class Case:
    """A rule, its signals, and what was recorded. `facts` are the spindles of some subjects."""

    name: str
    rule: Rule
    signals: dict[str, Signal]
    samples: dict[Series, Samples]
    facts: dict[Subject, dict[str, float]]

    @cached_property
    def judge(self):
        finder = Finder(self.signals, list(self.samples), lambda series: True)
        return Judge(finder.find, self.samples.__getitem__, self.fact)

    def fact(self, subject, fact):
        for one in (subject, Subject(subject.host)):
            if one.key in {known.key for known in self.facts}:
                return next(value for known, value in self.facts.items() if known.key == one.key)["spindles"]
        return 1.0


def a_case(number):
    """Return a pseudorandom case, the same for each seed."""
    chance = random.Random(number)
    kind, reduce = chance.choice(KINDS), chance.choice(REDUCES)
    each = chance.random() < 0.3
    hosts = ["anchor", "web1", "Db 2", "a,b=c"][: chance.randint(2, 4)]
    places = [(host, tag) for host in hosts for tag in (("0", "1,x") if each else (None,))]
    interval = chance.choice((10, 10, 15))
    recorded = {}

    def signal(name, kind, each):
        source: dict[str, Any] = {
            "measurement": f"generated-{number}-{name}",
            "field": "v",
            "instance": "i" if each else None,
        }
        source |= {
            "rate": {"rate": True},
            "idle": {"transform": {"scale": -1, "offset": 100}},
            "half": {"transform": {"scale": 0.5}},
            "fields": {"field": {"sum": ["v", "w"]}, "transform": {"scale": 0.5}},
            "grown": {"field": {"ratio": ["v", "w"]}, "rate": True, "transform": {"scale": 50}},
        }.get(kind, {})
        fields = ("v", "w") if kind in ("fields", "grown") else ("v",)
        for host, tag in places if each else [(host, None) for host in hosts]:
            start = chance.choice((0, 0, 3))
            for field in fields:
                series = Series(host, source["measurement"], (("i", tag),) if tag else (), field)
                recorded[series] = samples(chance, kind, interval, start, steady=host == "anchor")
        return Signal.model_validate(
            {
                "title": "t",
                "unit": "u",
                "meaning": "m",
                "instances": "each" if each else "none",
                "sources": [{key: value for key, value in source.items() if value is not None}],
            }
        )

    signals = {}
    if kind in ("sum", "difference", "ratio"):
        signals |= {"s.a": signal("a", "gauge", each), "s.b": signal("b", "gauge", each and chance.random() < 0.5)}
        derived = {"title": "t", "unit": "u", "meaning": "m", "instances": signals["s.a"].instances}
        signals["s.own"] = Signal.model_validate({**derived, "derived": {kind: ["s.a", "s.b"]}})
    else:
        signals["s.own"] = signal("own", kind, each)
    rule = a_rule(chance, kind, reduce)
    if chance.random() < 0.3:
        signals["s.other"] = signal("other", "gauge", each and chance.random() < 0.5)
        rule["and"] = [{"signal": "s.other", "healthy": "< 60", "over": "1m", "reduce": chance.choice(REDUCES[:5])}]
    if chance.random() < 0.2:
        rule |= {"phase": "steady", "when_phase_unknown": [{"signal": "s.own", "reduce": "increase", "over": "1m", "healthy": ">= 20"}]}  # fmt: skip
    facts = {}
    if chance.random() < 0.3:
        rule["scale"] = "spindles"
        facts[Subject(hosts[-1].upper())] = {"spindles": 2.0}
        if each:
            facts[Subject("web1", "1,x")] = {"spindles": 0.5}
    return Case(f"generated-{number}", Rule.model_validate(rule), signals, recorded, facts)


def a_rule(chance, kind, reduce):
    operator = chance.choice(HEALTHY)
    limit = {"count": 3, "increase": 5}.get(reduce, {"ratio": 1, "sum": 110, "difference": 0}.get(kind, 50))
    if reduce == "sum":
        limit *= 4
    # Values are multiples of 0.25: limits between them are safe from rounding, limits on them test the limit itself.
    limit += chance.choice((0, 0.0371)) if kind not in ("rate", "ratio", "grown") else 0.0371
    rule = {
        "id": "r",
        "signal": "s.own",
        "healthy": f"{operator} {limit:g}",
        "over": f"{chance.choice((30, 40, 60))}s",
        "for": f"{chance.choice((0, 0, 10, 20, 30))}s",
        "reduce": reduce,
        "severity": "warning",
        "summary": "s",
        "sources": [{"document": "d", "place": "p"}],
    }
    if chance.random() < 0.4:
        away = 8 * (1 if operator in (">", ">=") else -1)
        rule["recover"] = f"{operator} {limit + away:g}"
    return rule


def samples(chance, kind, interval, offset, *, steady):
    """Return values that wander, jump and flap around 50, with some missing."""
    times = np.arange(START - 20 + offset, START + 10 * STEPS, interval, dtype=np.int64) * SECOND
    level, values = 50.0, np.empty(len(times))
    for at in range(len(times)):
        if chance.random() < 0.15:
            level = chance.choice((20.0, 45.0, 50.0, 55.0, 80.0))
        values[at] = level + chance.choice((-4, -0.25, 0, 0, 0.25, 4))
    if kind == "ratio" or (kind == "gauge" and chance.random() < 0.05):
        values[chance.randrange(len(values)) :] = 0
    if kind in ("rate", "grown"):
        counts = np.cumsum(values * interval)
        reset = chance.randrange(1, len(counts))
        counts[reset:] -= counts[reset] - 5
        values = counts
    if not steady:
        first = chance.randrange(len(values)) if chance.random() < 0.2 else 0
        last = chance.randrange(len(values)) if chance.random() < 0.2 else len(values)
        values[:first] = np.nan
        values[last:] = np.nan
        for _ in range(chance.choice((0, 0, 0, 1, 2))):
            gap = chance.randrange(len(values))
            values[gap : gap + chance.randint(1, 12)] = np.nan
    return Samples(times, values)


def lines(case):
    for series, one in case.samples.items():
        tags = "".join(f",{name}={escaped(value)}" for name, value in (("host", series.host), *series.tags))
        for time, value in zip(one.present.times.tolist(), one.present.values.tolist(), strict=True):
            yield f"{series.measurement}{tags} {series.field}={value!r} {time}\n"


def escaped(text):
    return "".join(f"\\{letter}" if letter in ",= " else letter for letter in text)


def truths(case, subject, **changes):
    """Return the evaluator's result for the rule, with these fields changed, at every evaluation."""
    judge, rule = case.judge, case.rule.model_copy(update={"recover": None, **changes})
    return judge.track(rule, subject, judge.origins(rule.signal)[subject.key][1], AT)


def unheard(case, subject):
    """Return where a signal of the rule has no sample, so that Grafana gets no value for the subject."""
    missing = np.zeros(STEPS, dtype=bool)
    rule = case.rule
    for condition in (rule, *rule.and_, *(rule.when_phase_unknown if rule.phase else ())):
        seen = "last" if condition.reduce == "increase" else condition.reduce
        alone = rule.model_copy(
            update={
                "signal": condition.signal,
                "reduce": seen,
                "over": condition.over,
                "and_": (),
                "phase": None,
                "recover": None,
            }
        )
        judge = case.judge
        origins = judge.origins(condition.signal)
        found = origins.get(subject.key) or origins.get((subject.key[0], None))
        assert found
        missing |= np.isnan(judge.track(alone, subject, found[1], AT).values)
    return missing


def expected(case, subjects):
    """Return the expected states in Grafana of the subjects of one alert rule, and whether each equals the evaluator's."""
    enter = {one: truths(case, one).truths for one in subjects}
    stay = {
        one: truths(case, one, healthy=case.rule.recover).truths if case.rule.recover else enter[one]
        for one in subjects
    }
    missing = {one: unheard(case, one) for one in subjects}
    status = {one: Status() for one in subjects}
    states = {one: np.zeros(STEPS, dtype=np.int8) for one in subjects}
    kept = dict.fromkeys(subjects, False)  # whether Grafana kept a state because it found no data at all
    for at in range(STEPS):
        staying = {one: (enter if kept[one] else stay)[one][at] for one in subjects}
        lacking = {one: missing[one][at] or _lacks(enter[one][at], stay[one][at], status[one]) for one in subjects}
        for one in subjects:
            if not lacking[one]:
                status[one] = step(status[one], int(AT[at]), Truth(int(enter[one][at])), Truth(int(staying[one])), case.rule.for_)  # fmt: skip
                kept[one] = False
            elif all(lacking.values()):
                kept[one] = True
                since = status[one].since or 0
                if status[one].state == State.PENDING and int(AT[at]) - since >= case.rule.for_:
                    status[one] = Status(State.FIRING, since)
            states[one][at] = status[one].state
    return states


def _lacks(enter, stay, status):
    return (stay if status.state in (State.PENDING, State.FIRING) else enter) == Truth.NO_DATA


def shown_by(case, influx):
    """Return, for each exported alert rule, the states of its subjects at every evaluation."""
    pack = Pack(pack="p", title="t", about="a", rules=(case.rule,))
    site = Site([subject.host for subject in case.facts], facts=Facts(GivenFacts(case.facts)))
    options = Options(every=10 * SECOND, delay=DELAY, interval=15 * SECOND)
    for found in alert_rules(case.rule, pack, case.signals, site, options):
        assert not isinstance(found, Refused), str(found)
        seen = {}
        times = [int(at) + DELAY for at in AT]
        for at, (_, instances, _) in enumerate(run(found[0], options.every, times, influx.ask)):
            for labels, instance in instances.items():
                if labels:
                    named = dict(labels)
                    subject = Subject(named["host"], named.get("i"))
                    seen.setdefault(subject, [Shown.NORMAL] * STEPS)[at] = instance.state
        yield seen


@pytest.fixture(scope="module")
def cases(influx):
    made = [a_case(number) for number in range(CASES)]
    influx.write(line for case in made for line in lines(case))
    return made


def test_alert_rules_agree_with_the_evaluator(cases, influx):
    agree = 0
    for case in cases:
        same, judged = True, set()
        for seen in shown_by(case, influx):
            assert not judged & set(seen), f"{case.name}: two alert rules judge the same subject"
            judged |= set(seen)
            states = expected(case, list(seen))
            for subject, shown in seen.items():
                wanted = [SHOWN[State(state)] for state in states[subject].tolist()]
                assert shown == wanted, f"{case.name}: {subject}: {case.rule}"
                own = truths(case, subject, recover=case.rule.recover).states.tolist()
                same = same and wanted == [SHOWN[State(state)] for state in own]
        agree += same
        for subject, _ in case.judge.origins("s.own").values():
            if subject not in judged:
                assert set(truths(case, subject).truths) <= {Truth.NO_DATA, Truth.FALSE}, f"{case.name}: {subject}"
    assert agree >= AGREE, f"only {agree} of {len(cases)} cases agree with the evaluator at every step"
