"""Sentences and clauses about the comparison of one signal."""

from collections.abc import Sequence

from plimsoll.comparison.compared_signal import Compared
from plimsoll.comparison.distribution_changes import MANY, Reshaped
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.times import SECOND, format_duration
from plimsoll.model.value_text import format_percent, format_value, number

_MANY_TIMES = 3  # from this ratio on, `84 times` reads better than a percentage
_PERCENTILES = ("response_p50", "response_p95", "response_p99")  # of the requests in each interval
_ALIKE = 0.01  # a load that differs by less changes no figure that people read
_SMALLEST = 0.001  # what `format_percent` writes `< 0.1 %` for is below it


def name_place(compared: Compared) -> str:
    """Return the subject, with its name in the second run if that differs: `SQLSRV01, 2 E: (3 E:)`."""
    if compared.where:
        return compared.where
    name = str(compared.subject)
    if compared.subject.key == compared.other.key:
        return name
    same_host, same_instance = (a == b for a, b in zip(compared.subject.key, compared.other.key, strict=True))
    other = compared.other.instance if same_host else compared.other.host if same_instance else compared.other
    return f"{name} ({other})"


def describe_change(compared: Compared) -> str:
    """Return the change as a share: `−92 %`, `< 0.1 % up`, `84 times`; empty if a share has no meaning."""
    change = compared.change
    if change is None:
        return ""
    if change + 1 >= _MANY_TIMES:
        return f"{number(change + 1)} times"
    if 0 < abs(change) < _SMALLEST:
        return f"{format_percent(abs(change))} {'up' if change > 0 else 'down'}"
    return _format_signed(change)


def describe_move(compared: Compared) -> str:
    """Return the change with both values: `fell from 7,731 s to 597 s (−92 %)`."""
    first, second = compared.before, compared.second.mean.mean
    verb = "rose" if second > first else "fell"
    of_steps = ", on average of the intervals" if compared.name.endswith(_PERCENTILES) else ""
    name = f" ({text}{_describe_per_operation(compared)}{of_steps})" if (text := describe_change(compared)) else ""
    return (
        f"{verb} from {format_value(first, compared.signal.unit)} to {format_value(second, compared.signal.unit)}{name}"
    )


def format_levels(compared: Compared) -> str:
    """Return both means: `29.6 % and 29.7 %`, or `29.6 % in both` if their texts are equal."""
    first, second = (format_value(mean, compared.signal.unit) for mean in (compared.before, compared.second.mean.mean))
    return f"{first} in both" if first == second else f"{first} and {second}"


def format_interval(compared: Compared) -> str:
    """Return the interval of the difference as shares: ` (−1.2 % to +0.4 %)`; empty without an error or a share."""
    if compared.before <= 0 or not compared.difference.error:
        return ""
    return " ({} to {})".format(*(_format_signed(end / compared.before) for end in compared.difference.interval()))


def _describe_per_operation(compared: Compared) -> str:
    """Return the change per operation: `, +9 % for each operation`; empty if no recorded load explains any of it."""
    is_known = (
        any(compared.loads)
        and compared.treatment.load == "proportion"
        and not compared.treatment.whole
        and compared.expected.explains
    )
    if not is_known or compared.change is None:
        return ""
    factor = compared.expected.high if compared.expected.high > 1 else compared.expected.low
    if abs(factor - 1) < _ALIKE:
        return ""
    return f", {_format_signed((compared.change + 1) / factor - 1)} for each operation"


def _format_signed(share: float) -> str:
    return f"{'+' if share > 0 else '−' if share < 0 else '±'}{format_percent(abs(share)).lstrip('<> ')}"


def group_by_signal(compareds: Sequence[Compared]) -> list[list[Compared]]:
    """Return the comparisons in groups, one group for each signal, in order of first appearance.

    If two signals have the same figures, as two kinds of processor time may, only the first signal is listed.
    """
    groups = group_pairs((compared.name, compared) for compared in compareds).values()
    figures: dict[tuple[str, str], list[Compared]] = {}
    for group in groups:
        figures.setdefault((str(group[0].subject), describe_move(group[0])), group)
    return list(figures.values())


def format_title(compared: Compared) -> str:
    """Return the signal's title as used within a sentence: `page life expectancy`, `CPU time`."""
    text = compared.signal.title
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def describe_distribution_change(reshaped: Reshaped) -> str:
    """Return a clause on a change: `the peaks of execution time of WEB1 rose from 20 ms to 60 ms`."""
    compared = reshaped.compared
    name = f"{format_title(compared)} of {name_place(compared)}"
    first, second = (format_value(value, compared.signal.unit) for value in (reshaped.before, reshaped.after))
    match reshaped.shape:
        case "stalls":
            after, before = format_percent(reshaped.after), format_percent(reshaped.before)
            text = f"{format_title(compared)} stalled for {after} of the time, and for {before} before"
            return f"{text}{_describe_slow(*reshaped.slow)}" if reshaped.slow else text
        case "failures":
            here, text = (format_duration(seconds * SECOND) for seconds in (reshaped.after, reshaped.before))
            most = format_percent(MANY / 100)
            before = f"at most {text}" if reshaped.before else "never"
            return (
                f"{most} of the requests or more failed for {here} on end, and {before} in the baseline, "
                f"so {name} {describe_move(compared)}"
            )
        case "peaks":
            return f"the peaks of {name} rose from {first} to {second}"
        case "noise":
            return f"the noise of {name} grew: its median deviation rose from {first} to {second}"


def _describe_slow(compared: Compared, usual: float, slow: float) -> str:
    """Return what was slow in stalls: `; meanwhile disk latency of SQL1, 1 D: was 2.2 s, and 4 ms at other times`."""
    values = [format_value(value, compared.signal.unit) for value in (slow, usual)]
    name = f"{format_title(compared)} of {name_place(compared)}"
    return f"; meanwhile {name} was {values[0]}, and {values[1]} at other times"
