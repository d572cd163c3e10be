"""Every alert rule that is exported, from every source, gives on the cases of its rule what the evaluator gives.

The samples of a case are put into a real InfluxDB as the source would have recorded them: with its tags, before its
transform, growing where it is a count.
"""

import itertools

import numpy as np
import pytest
import yaml

from grafana.alert_file import AlertingFile
from grafana.alerts import Options, Refused, alert_rules, export
from grafana.selections import Selection, default_instance, selections
from hosts.facts import Facts, GivenFacts
from hosts.site import Site
from model.times import SECOND
from rules.cases import _judged, operands
from rules.load import load_packs, load_signals
from rules.signal_schema import Fields
from rules.states import State
from rules.subjects import Subject
from store.line_protocol import point
from tests.grafana.pipeline.evaluate import run
from tests.grafana.pipeline.states import State as Shown

SIGNALS = load_signals()
HOST = "Server 1"
DELAY = 30 * SECOND
START = 1_600_000_200 * SECOND
SLOT = 7200 * SECOND
EVERY = 60 * SECOND
RULES = [(pack, rule) for pack in load_packs() for rule in pack.rules]


def fires(rule, case):
    """Whether the rule fires where phases are not known; None without data throughout."""
    track = _judged(rule, case.model_copy(update={"phase": None}), SIGNALS)
    if track is None or not track.judged:
        return None
    return bool((track.states == State.FIRING).any())


def recorded(selection: Selection, rule, case, start):
    """The samples of a case as lines, as a source records them; those of the alert's own selections are told apart."""
    source, values = selection.source, case.series.get(selection.signal, ())
    tags = {selection.host: HOST, **source.tags}
    if source.path:
        tags |= {"source": HOST, "objectname": source.path.object}
        if source.path.instance not in (None, "*"):
            tags["instance"] = source.path.instance
    if selection.instance:
        tags[selection.instance] = case.instance
    parts = [{selection.summed: name} for name in ("0", "1")] if selection.summed else [{}]
    # Differences of counts that grew by fractions are not exact; the limit itself must stay on its side.
    derived = SIGNALS[rule.signal].derived
    away = 1e-9 if bool(case.fires) == (rule.healthy.worse != "lower") else -1e-9
    nudge = 1 + (away if selection.signal == (derived.operands[0] if derived else rule.signal) else 0)
    several = source.field if isinstance(source.field, Fields) else None
    counts = [0.0] * len(source.fields or (selection.field,))
    for at, value in enumerate(values):
        if value is None:
            continue
        raw = (value - source.transform.offset) / source.transform.scale
        # All of it is in the first of several fields; what it is divided by is 1, or grows by that every second.
        own = [raw, *[1.0 if several and several.operation == "ratio" else 0.0] * (len(counts) - 1)]
        if source.rate:
            own[0] *= nudge
            counts = [count + one * case.interval / SECOND for count, one in zip(counts, own, strict=True)]
            own = counts
        for part in parts:
            values = [own[0] / len(parts), *own[1:]]
            fields = {
                name: repr(float(one)) for name, one in zip(source.fields or (selection.field,), values, strict=True)
            }
            yield point(selection.measurement, tags | part, fields, start + at * case.interval)


def selections_of(alert, rule):
    """The selections that an alert rule reads: those whose measurement and field stand in its queries."""
    queries = " ".join(query.model.query for query in alert.data if hasattr(query.model, "query"))
    names = dict.fromkeys(one.signal for one in rule.conditions)
    leaves = [leaf for name in names for leaf in operands(name, SIGNALS)]
    for leaf in leaves:
        for one in selections(leaf, SIGNALS):
            for read in (one, default_instance(one)):
                if all(part in queries for part in (f'"{one.field}"', f'FROM "{one.measurement}" WHERE', *read.where)):
                    yield one


def site_of(rule, case):
    place = Subject(HOST.upper(), case.instance)
    return Site(
        [HOST],
        facts=Facts(GivenFacts({Subject(HOST.upper()): dict(case.facts)})),
        drives={place: rule.drive} if rule.drive else {},
    )


@pytest.fixture(scope="module")
def judged(influx):
    """What each alert rule made of each case: the rule's pack and id, the case, the title, and how it came out."""
    plans, lines = [], []
    slots = itertools.count()
    for pack, rule in RULES:
        for case in rule.cases:
            options = Options(interval=case.interval)
            # For every host: which hosts a pack is for is not a matter of its rules.
            anywhere = pack.model_copy(update={"applies_to": None})
            made = list(alert_rules(rule, anywhere, SIGNALS, site_of(rule, case), options))
            alerts = [one[0] for one in made if not isinstance(one, Refused)]
            own = [one for one in alerts if HOST.casefold() in one.title.casefold()]
            for alert in own or alerts:
                start = START + next(slots) * SLOT
                # A field that stands alone as well is written last: what is made of it and others has it all the same.
                read = sorted(selections_of(alert, rule), key=lambda one: len(one.source.fields) <= 1)
                lines += [line for one in read for line in recorded(one, rule, case, start)]
                rows = max(len(values) for values in case.series.values())
                plans.append((rule, case, alert, start, rows))
    influx.write(lines)
    return [(rule, case, alert, outcome(influx, alert, case, start, rows)) for rule, case, alert, start, rows in plans]


def outcome(influx, alert, case, start, rows):
    times = np.arange(start, start + rows * case.interval + EVERY, EVERY) + DELAY
    shown = [
        one.state for _, found, _ in run(alert, EVERY, times.tolist(), influx.ask) for key, one in found.items() if key
    ]
    return None if not shown else Shown.ALERTING in shown


def test_every_exported_rule_is_run(judged):
    refused = {"sql-page-life-climbs", *(rule.id for _, rule in RULES if SIGNALS[rule.signal].fact)}
    assert {rule.id for rule, _, _, _ in judged} == {rule.id for _, rule in RULES} - refused
    assert len({alert.uid for _, _, alert, _ in judged}) > 150


def test_alert_rules_make_of_cases_what_the_evaluator_does(judged):
    wrong = [
        f"{alert.title}: {case.name}: expected {fires(rule, case)}, shown {shown}"
        for rule, case, alert, shown in judged
        if (shown or False) != (fires(rule, case) or False) or (fires(rule, case) is None and shown is not None)
    ]
    assert not wrong, "\n".join(wrong[:20]) + f"\n{len(wrong)} of {len(judged)}"


def test_a_host_that_falls_silent_is_told_and_others_are_not(influx):
    """One host stops after 20 minutes; the other goes on. The rule that fires goes on when its look-back is over."""
    text = export(load_packs(), SIGNALS).files["silence.yaml"]
    rules = AlertingFile.model_validate(yaml.safe_load(text)).groups[0].rules
    (rule,) = [one for one in rules if one.uid == "silence-cpu"]
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
