"""Sentences about one compared signal."""

from collections.abc import Sequence

from plimsoll.comparison.compared_signal import Compared
from plimsoll.comparison.distribution_changes import MANY, Reshaped
from plimsoll.model.times import SECOND, duration_text
from plimsoll.model.value_text import number, percent, quantity

_MANY_TIMES = 3  # from this ratio on, `84 times` reads better than a percentage
_ALIKE = 0.01  # a load that differs by less changes no figure that people read
_SMALLEST = 0.001  # what `percent` writes `< 0.1 %` for is below it


def place(one: Compared) -> str:
    """`SQLSRV01, 2 E:`; with the name it has in the other run, if that is another."""
    if one.where:
        return one.where
    name = str(one.subject)
    if one.subject.key == one.other.key:
        return name
    same_host, same_instance = (a == b for a, b in zip(one.subject.key, one.other.key, strict=True))
    other = one.other.instance if same_host else one.other.host if same_instance else one.other
    return f"{name} ({other})"


def change_text(one: Compared) -> str:
    """`−92 %`, `< 0.1 % up`, `84 times`; empty where that has no meaning."""
    change = one.change
    if change is None:
        return ""
    if change + 1 >= _MANY_TIMES:
        return f"{number(change + 1)} times"
    if 0 < abs(change) < _SMALLEST:
        return f"{percent(abs(change))} {'up' if change > 0 else 'down'}"
    return _signed(change)


def moved(one: Compared) -> str:
    """`fell from 7,731 s to 597 s (−92 %)`."""
    first, second = one.before, one.second.mean.mean
    verb = "rose" if second > first else "fell"
    how = f" ({text}{_each(one)})" if (text := change_text(one)) else ""
    return f"{verb} from {quantity(first, one.signal.unit)} to {quantity(second, one.signal.unit)}{how}"


def levels(one: Compared) -> str:
    """`29.6 % and 29.7 %`; `29.6 % in both` where they look alike."""
    first, second = (quantity(mean, one.signal.unit) for mean in (one.before, one.second.mean.mean))
    return f"{first} in both" if first == second else f"{first} and {second}"


def interval(one: Compared) -> str:
    """` (−1.2 % to +0.4 %)`: the interval of the difference as shares; empty where that has no meaning."""
    if one.before <= 0:
        return ""
    return " ({} to {})".format(*(_signed(end / one.before) for end in one.difference.interval()))


def _each(one: Compared) -> str:
    """`, +9 % for each operation`: where the load is known, differs, and explains a part."""
    known = any(one.loads) and one.treatment.load == "proportion" and not one.treatment.whole and one.expected.explains
    if not known or one.change is None:
        return ""
    factor = one.expected.high if one.expected.high > 1 else one.expected.low
    if abs(factor - 1) < _ALIKE:
        return ""
    return f", {_signed((one.change + 1) / factor - 1)} for each operation"


def _signed(share: float) -> str:
    return f"{'+' if share > 0 else '−' if share < 0 else '±'}{percent(abs(share))}"


def by_signal(found: Sequence[Compared]) -> list[list[Compared]]:
    """The comparisons of each signal together, in their order."""
    groups: dict[str, list[Compared]] = {}
    for one in found:
        groups.setdefault(one.name, []).append(one)
    return list(groups.values())


def title(one: Compared) -> str:
    """The title within a sentence: `page life expectancy`, `CPU time`."""
    text = one.signal.title
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


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
