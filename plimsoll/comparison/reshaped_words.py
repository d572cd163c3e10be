"""What means hide, in words."""

from plimsoll.comparison.failures import MANY
from plimsoll.comparison.sentences import moved, place, title
from plimsoll.comparison.shapes import Reshaped
from plimsoll.model.times import SECOND, duration_text
from plimsoll.model.value_text import percent, quantity


def told(one: Reshaped) -> str:
    """A clause: `the 99th percentile of request execution time of WEB1 rose from 20 ms to 60 ms`."""
    compared = one.compared
    name = f"{title(compared)} of {place(compared)}"
    first, second = (quantity(value, compared.signal.unit) for value in (one.before, one.after))
    match one.what:
        case "stalls":
            return (
                f"{title(compared)} stalled for {percent(one.after)} of the time, and for {percent(one.before)} before"
            )
        case "failures":
            here, there = (duration_text(seconds * SECOND) for seconds in (one.after, one.before))
            most = percent(MANY / 100)
            before = f"at most {there}" if one.before else "never"
            return (
                f"{most} of the requests or more failed for {here} on end, and {before} in the baseline, "
                f"so {name} {moved(compared)}"
            )
        case "peaks":
            return f"the 99th percentile of {name} rose from {first} to {second}"
        case "noise":
            return f"the noise of {name} grew: its median deviation rose from {first} to {second}"
