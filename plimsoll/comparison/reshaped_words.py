"""What means hide, in words."""

from plimsoll.comparison.sentences import place, title
from plimsoll.comparison.shapes import Reshaped
from plimsoll.model.value_text import percent, quantity


def told(one: Reshaped) -> str:
    """A clause: `the 99th percentile of request execution time of WEB1 rose from 20 ms to 60 ms`."""
    compared = one.compared
    name = f"{title(compared)} of {place(compared)}"
    before, after = (quantity(value, compared.signal.unit) for value in (one.before, one.after))
    match one.what:
        case "stalls":
            return (
                f"{title(compared)} stalled for {percent(one.after)} of the time, and for {percent(one.before)} before"
            )
        case "peaks":
            return f"the 99th percentile of {name} rose from {before} to {after}"
        case "noise":
            return f"the noise of {name} grew: its median deviation rose from {before} to {after}"
