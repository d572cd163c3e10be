"""Restricts signals to the sources that certain agents record."""

from collections.abc import Collection, Mapping
from typing import Literal

from plimsoll.export.grafana.selections import selections
from plimsoll.rules.schema.signal import Signal

Agent = Literal["windows", "telegraf", "sysstat"]


def recorded_by(signals: Mapping[str, Signal], agents: Collection[Agent]) -> Mapping[str, Signal]:
    """Return the signals with only the sources that these agents record, and those that any agent may record."""
    return {name: _recorded_by(name, signals, agents) for name in signals}


def _recorded_by(name: str, signals: Mapping[str, Signal], agents: Collection[Agent]) -> Signal:
    kept = (one.source for one in selections(name, signals) if one.collector in (None, *agents))
    return signals[name].model_copy(update={"sources": tuple(kept)})


def is_recorded(name: str, signals: Mapping[str, Signal]) -> bool:
    """Whether a signal has a source left, or, if it is derived, whether all its operands have one."""
    signal = signals[name]
    if signal.derived:
        return all(is_recorded(operand, signals) for operand in signal.derived.operands)
    return bool(signal.sources)
