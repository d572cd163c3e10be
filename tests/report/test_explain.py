"""A rule in words."""

from dataclasses import replace

from plimsoll.report.rule_page import explain
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.schema.field_types import Healthy


def test_a_scaled_rule_recovers_at_a_scaled_limit():
    packs = {rule.id: (rule, pack) for pack in load().packs for rule in pack.rules}
    rule, pack = packs["disk-queue-per-spindle"]
    recovering = replace(rule, recover=Healthy.parse("<= 2"))
    text = explain(recovering, pack, load_signals())
    assert "lasts until the value is at most 2 requests for each spindle" in text
