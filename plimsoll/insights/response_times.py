"""The signals of how long clients wait, as rules/signals names them."""

from collections.abc import Mapping

from plimsoll.rules.schema.signal import Signal


def response_times(signals: Mapping[str, Signal]) -> tuple[str, ...]:
    """Their names; what a client waits for as a whole comes before its parts in the files."""
    return tuple(name for name, signal in signals.items() if signal.response_time)
