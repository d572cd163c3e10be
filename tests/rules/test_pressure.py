"""From which values on resources are short: a rule's limit, or a value beside the signal, with its source."""

import pytest
from pydantic import ValidationError

from plimsoll.rules.load import load
from plimsoll.rules.schema.signal import Pressure


def test_every_limit_of_capacity_is_written_once():
    """Every rule that `pressure` names is shipped, and no value beside a signal repeats a limit of its rules."""
    catalogue = load()
    for name, signal in catalogue.signals.items():
        pressure = signal.pressure
        if pressure is None:
            continue
        assert set(pressure.named) <= set(catalogue.rules), name
        limits = {rule.healthy.limit for rule in catalogue.rules.values() if rule.signal == name}
        assert not limits & set(pressure.own), f"{name}: rules have {limits & set(pressure.own)} already"


def test_the_signals_of_all_resources_are_known():
    found = {one.pressure.resource for one in load().signals.values() if one.pressure}
    assert found == {"cpu", "disk", "memory", "network", "software"}
    assert sum(one.response_time for one in load().signals.values()) > 5


def test_a_value_that_no_rule_has_names_its_source():
    with pytest.raises(ValidationError, match="where the numbers of at, low, high and full are from"):
        Pressure(resource="cpu", at=95)
