"""A rule on a signal that is recorded as one series, judged alone."""

from plimsoll.model.file_models import parse_content
from plimsoll.model.series import Series
from plimsoll.rules.evaluate import RuleEvaluator
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_finder import Finder
from plimsoll.rules.states import list_evaluation_times

SERIES = Series("h", "m", (), "x")
SOURCES = [{"measurement": "m", "field": "x"}]
SIGNALS = {"s.x": parse_content(Signal, {"title": "x", "unit": "u", "meaning": "m", "sources": SOURCES})}


def a_rule(**fields):
    needed = {"id": "r", "signal": "s.x", "severity": "warning", "summary": "s"}
    return parse_content(Rule, {**needed, "sources": [{"document": "d", "place": "p"}], **fields})


def evaluated(rule, samples, reach=0, fact=1.0, phases=()):
    """The evaluation of a rule for the samples of the series; `reach` is the longest window (ns)."""
    finder = Finder(SIGNALS, [SERIES], lambda series: True)
    judge = RuleEvaluator(finder.find, lambda series: samples, lambda subject, name: fact, phases)
    (track,) = judge.evaluate(rule, lambda subject: list_evaluation_times(samples.times, reach=reach))
    return track
