"""Every exported alert rule, for every source, gives the evaluator's results on the cases of its rule.

The samples of a case are written to a real InfluxDB as the source would have recorded them: with its tags, before its
transform, and as a growing count if it is a counter.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import yaml

from plimsoll.export.grafana.alerts.alert_rules import Options, Refused, alert_rules
from plimsoll.export.grafana.alerts.file import AlertingFile, AlertRule
from plimsoll.export.grafana.selections import Selection, default_instance, selections
from plimsoll.hosts.facts import Facts, GivenFacts
from plimsoll.hosts.site import Site
from plimsoll.model.times import SECOND
from plimsoll.rules.cases import _judged, operands
from plimsoll.rules.load import load_packs, load_signals
from plimsoll.rules.schema.pack import Case, Rule
from plimsoll.rules.schema.signal import Fields
from plimsoll.rules.states import State
from plimsoll.rules.subjects import Subject
from plimsoll.store.line_protocol import point
from tests.export.grafana.pipeline.evaluate import run
from tests.export.grafana.pipeline.states import State as Shown

ROOT = Path(__file__).parents[3]
SIGNALS = load_signals()
HOST = "Server 1"
DELAY = 30 * SECOND
START = 1_600_000_200 * SECOND
# Cases begin at multiples of this, after what the queries of a rule look back to. InfluxDB takes long if they spread
# over many of its shards, of a week each.
STEP = 2 * 3600 * SECOND
EVERY = 60 * SECOND
_TIMES = 3
RULES = [(pack, rule) for pack in load_packs() for rule in pack.rules]


def fires(rule, case):
    """Whether the rule fires without known phases; None if it never has data.

    In Grafana, a condition on a signal that is not recorded has no data: the export says so by name.
    """
    further = tuple(one.model_copy(update={"if_not_recorded": None}) for one in rule.and_)
    track = _judged(rule.model_copy(update={"and_": further}), case.model_copy(update={"phase": None}), SIGNALS)
    if track is None or not track.judged:
        return None
    return bool((track.states == State.FIRING).any())


def recorded(selection: Selection, one, start):
    """Yield the samples of a case as line protocol, as the sources of the alert would record them."""
    rule, case, host = one.rule, one.case, one.host
    source, values = selection.source, case.series.get(selection.signal, ())
    tags = {selection.host: host, **source.tags}
    if source.path:
        tags |= {"source": host, "objectname": source.path.object}
        if source.path.instance not in (None, "*"):
            tags["instance"] = source.path.instance
    if selection.instance:
        tags[selection.instance] = case.instance
    each = [{selection.summed: name} for name in ("0", "1")] if selection.summed else [{}]
    # Differences of fractional counts are not exact, and a value at the limit must stay on its side.
    derived = SIGNALS[rule.signal].derived
    away = 1e-9 if bool(case.fires) == (rule.healthy.worse != "lower") else -1e-9
    nudge = 1 + (away if selection.signal == (derived.operands[0] if derived else rule.signal) else 0)
    several = source.field if isinstance(source.field, Fields) else None
    names = source.fields or (selection.field,)
    # The first of several fields has the whole value; a divisor is 1, or grows by 1 every second.
    further = [1.0 if several and several.operation == "ratio" else 0.0] * (len(names) - 1)
    weights = None
    if selection.weight and not several:
        names = (*names, selection.weight)
        weight = SIGNALS[selection.signal].weight
        assert weight is not None
        weights = case.series[weight.rate]
    lines = [point(selection.measurement, tags | part, dict.fromkeys(names, "{!r}"))[:-1] + " {}\n" for part in each]
    offset, scale = source.transform.offset, source.transform.scale
    counts = [0.0] * (1 + len(further))
    for at, value in enumerate(values):
        if value is None:
            continue
        own = [(value - offset) / scale, *further]
        if source.rate:
            own[0] *= nudge
            counts = own = [count + one * case.interval / SECOND for count, one in zip(counts, own, strict=True)]
        written = [own[0] / len(each), *own[1:]]
        if weights:
            written.append(float(weights[at]))
        for line in lines:
            yield line.format(*written, start + at * case.interval)


def selections_of(alert, rule):
    """Return the selections that an alert rule reads: those whose measurement and field are in its queries."""
    queries = " ".join(asked(alert))
    names = dict.fromkeys(one.signal for one in rule.conditions)
    leaves = [leaf for name in names for leaf in operands(name, SIGNALS)]
    for leaf in leaves:
        for one in selections(leaf, SIGNALS):
            for read in (one, default_instance(one)):
                if all(part in queries for part in (f'"{one.field}"', f'FROM "{one.measurement}" WHERE', *read.where)):
                    yield one


def site_of(rule, facts, instance):
    place = Subject(HOST.upper(), instance)
    return Site(
        [HOST],
        facts=Facts(GivenFacts({Subject(HOST.upper()): dict(facts)})),
        drives={place: rule.drive} if rule.drive else {},
    )


@cache
def alerts_of(pack_and_rule, facts, instance, interval):
    """Return the alert rules of a rule for a host with these facts, preferring those for this host only."""
    pack, rule = RULES[pack_and_rule]
    # Without applies_to, which would refuse rules on signals of every host.
    anywhere = pack.model_copy(update={"applies_to": None})
    made = alert_rules(rule, anywhere, SIGNALS, site_of(rule, facts, instance), Options(interval=interval))
    alerts = [one[0] for one in made if not isinstance(one, Refused)]
    own = [one for one in alerts if HOST.casefold() in one.title.casefold()]
    # A field that is also recorded alone is written last, so that a sum it is part of does not overwrite it.
    return [
        (alert, sorted(selections_of(alert, rule), key=lambda one: len(one.source.fields) <= 1))
        for alert in own or alerts
    ]


def pairs(cases, alerts, met):
    """Choose which cases of a rule are run against which of its alert rules.

    Every case is run, and every part of the queries of each alert is run with a case that fires and one that does not.
    These may be cases of another rule with the same part, such as the critical one for a warning. `alerts` are those of
    each case, `met` what has been run.
    """
    for number, (case, fired) in enumerate(cases):
        made = alerts[number]
        lacking = []
        for one in made:
            if new := {(part, fired) for part in parts(one[0])} - met:
                met |= new
                lacking.append(one)
        for alert, read in lacking or made[number % max(1, len(made)) :][:1]:
            yield case, alert, read


def asked(alert):
    return tuple(query.model.query for query in alert.data if hasattr(query.model, "query"))


def parts(alert):
    """What is selected in the queries of an alert rule: each of several sources, and of several conditions."""
    return {part.strip(" ,()") for query in asked(alert) for part in query.split("SELECT ")}


class Run(NamedTuple):
    """A case that is run against an alert rule: on which host, and whether the evaluator has it fire."""

    rule: Rule
    case: Case
    host: str
    alert: AlertRule
    read: list[Selection]
    fires: bool | None

    @property
    def length(self):
        return max(len(values) for values in self.case.series.values()) * self.case.interval


def planned():
    """Return what is run, by what is asked: an answer has all of its cases, each on a host of its own.

    A limit that scales by facts, or is for a drive, asks for its host alone.
    """
    found, met = {}, set()
    for number, (_, rule) in enumerate(RULES):
        expected = {case.name: fires(rule, case) for case in rule.cases}
        assert len(expected) == len(rule.cases)
        alerts = [alerts_of(number, frozenset(case.facts.items()), case.instance, case.interval) for case in rule.cases]
        cases = [(case, bool(expected[case.name])) for case in rule.cases]
        for case, alert, read in pairs(cases, alerts, met):
            together = found.setdefault((asked(alert), (rule.id, case.name) if case.facts or rule.drive else None), [])
            host = f"Server {len(together) + 1}"
            together.append(Run(rule, case, host, alert, read, expected[case.name]))
    return list(found.values())


@pytest.fixture(scope="module")
def judged(influx):
    """Return what was run, each with the actual outcome."""
    plans, lines, end = planned(), [], START
    starts = []
    for together in plans:
        back = STEP + 2 * max(condition.over for one in together for condition in one.rule.conditions)
        start = START - (START - end - back) // STEP * STEP
        lines += [line for one in together for read in one.read for line in recorded(read, one, start)]
        end = start + max(one.length for one in together)
        starts.append(start)
    influx.write(lines)
    return [found for together, start in zip(plans, starts, strict=True) for found in outcomes(influx, together, start)]


def outcomes(influx, together, start):
    """Yield each run with whether the alert fires; None if it never has a value.

    Some evaluations of a case are enough mostly: what fires late, or should not at all, is like that for long. Where
    they do not come to what is wanted, those of every minute count.
    """
    length = max(one.length for one in together)
    some = min(max(EVERY, length // _TIMES // EVERY * EVERY), 10 * EVERY)
    ask = remembering(influx.ask)
    for alert in {one.alert.uid: one.alert for one in together}.values():
        runs = [one for one in together if one.alert.uid == alert.uid]
        found = outcomes_every(some, ask, alert, runs, start)
        if some > EVERY and any(found[one.host] != one.fires for one in runs):
            found = outcomes_every(EVERY, ask, alert, runs, start)
        yield from ((one, found[one.host]) for one in runs)


def outcomes_every(every, ask, alert, runs, start):
    """The outcome on each host by evaluations this far apart."""
    times = np.arange(start + every, start + max(one.length for one in runs) + every, every) + DELAY
    found = dict.fromkeys((one.host for one in runs), None)
    for at, instances, _ in run(alert, every, times.tolist(), ask):
        for one in runs:
            if at < start + one.length + every + DELAY:
                shown = [instance.state for key, instance in instances.items() if one.host in dict(key).values()]
                if shown:
                    found[one.host] = found[one.host] or Shown.ALERTING in shown
    return found


def remembering(ask):
    """Ask no statement twice: rules of several severities ask the same."""
    known = {}

    def answers(statements):
        new = [*dict.fromkeys(one for one in statements if one not in known)]
        known.update(zip(new, ask(new), strict=True))
        return [known[one] for one in statements]

    return answers


def test_every_exported_rule_is_run(judged):
    refused = {
        "sql-page-life-climbs",
        *(rule.id for _, rule in RULES if SIGNALS[rule.signal].fact or rule.stands_in_for),
        *(rule.id for _, rule in RULES if any(source.part_after for source in SIGNALS[rule.signal].sources)),
    }
    assert {one.rule.id for one, _ in judged} == {rule.id for _, rule in RULES} - refused
    assert len({one.alert.uid for one, _ in judged}) > 150


def test_alert_rules_make_of_cases_what_the_evaluator_does(judged):
    wrong = [
        f"{one.alert.title}: {one.case.name}: expected {one.fires}, shown {shown}"
        for one, shown in judged
        if ((shown or False) != (one.fires or False) or (one.fires is None and shown is not None))
        # Grafana does not know the size of a volume while it is full.
        and not any(SIGNALS[further.signal].constant and one.fires for further in one.rule.and_ if not shown)
    ]
    assert not wrong, "\n".join(wrong[:20]) + f"\n{len(wrong)} of {len(judged)}"


def committed(uid):
    """An alert rule for silence, as it was exported."""
    text = (ROOT / "rules" / "grafana" / "silence.yaml").read_text("utf-8")
    rules = AlertingFile.model_validate(yaml.load(text, yaml.CSafeLoader)).groups[0].rules
    (rule,) = [one for one in rules if one.uid == uid]
    return rule


def test_an_object_that_falls_silent_is_reported_with_its_host(influx):
    """The host goes on sending another object."""
    rule = committed("silence-windows")
    start, minute = 1_560_000_000 // 60 * 60 * SECOND, 60 * SECOND
    sent = [("System", "win_system", "Percent_Total_Processor_Time", 20), ("Memory", "win_mem", "Available_Bytes", 40)]
    for name, measurement, field, minutes in sent:
        tags = {"host": "OBJ", "source": "OBJ", "objectname": name}
        influx.write(point(measurement, tags, {field: "9.0"}, start + at * 10 * SECOND) for at in range(minutes * 6))
    times = [start + at * minute + DELAY for at in range(10, 38)]
    firing = set()
    for at, instances, _ in run(rule, minute, times, influx.ask):
        for labels, one in instances.items():
            if labels and one.state == Shown.ALERTING:
                firing.add((dict(labels)["objectname"], (at - start) // minute))
    assert {name for name, _ in firing} == {"System"}
    assert 24 <= min(at for _, at in firing) <= 26


def test_only_the_host_that_falls_silent_is_reported(influx):
    """One host stops after 20 minutes, the other does not. The alert goes on firing after the look-back window."""
    rule = committed("silence-cpu")
    start, minute = 1_550_000_000 // 60 * 60 * SECOND, 60 * SECOND
    sent = [("stops", at) for at in range(20 * 6)] + [("goes on", at) for at in range(0, 500 * 6, 3)]
    influx.write(point("cpu", {"host": host, "cpu": "cpu-total"}, {"usage_idle": "9.0", "usage_iowait": "0.0"}, start + at * 10 * SECOND) for host, at in sent)  # fmt: skip
    times = [start + at * minute + DELAY for at in range(10, 480, 1)]
    firing = {"stops": [], "goes on": []}
    for at, instances, _ in run(rule, minute, times, influx.ask):
        for labels, one in instances.items():
            if labels and one.state == Shown.ALERTING:
                firing[dict(labels)["host"]].append((at - DELAY - start) // minute)
    assert firing["goes on"] == []
    assert 24 <= firing["stops"][0] <= 26
    assert firing["stops"] == list(range(firing["stops"][0], 480))
