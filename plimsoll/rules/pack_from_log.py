"""A pack with a signal for each counter of a log that no signal reads: `plimsoll rules new --from LOG`."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from plimsoll.model.counter_names.unrecognised import UnknownCounter

# The unit of a counter by its name; the first that is found.
_UNITS = (
    (r"sec/|\(sec\)| in seconds|\(s\)$", "s"),
    (r"\(ms\)|\(msec\)|latency|milliseconds", "ms"),
    (r"bytes/s", "bytes/s"),
    (r"/ ?s(ec)?\b|per sec", "/s"),
    (r"%|percent", "%"),
    (r"mbytes", "MB"),
    (r"\bbytes\b", "bytes"),
)
_COUNTED = "requests"


def chosen(counters: Sequence[UnknownCounter], patterns: Sequence[str]) -> list[UnknownCounter]:
    r"""Those whose `Object\Counter` matches any of the patterns, in which `*` is any text; all of them without any."""
    if not patterns:
        return list(counters)
    folded = [pattern.casefold().lstrip("\\").replace("[", "[[]") for pattern in patterns]
    return [
        one
        for one in counters
        if any(fnmatchcase(f"{one.object}\\{one.counter}".casefold(), pattern) for pattern in folded)
    ]


def pack_text(name: str, head: str, counters: Sequence[UnknownCounter]) -> str:
    """The text of a pack: a signal for each counter, and how to write a rule on the first."""
    prefix = name.replace("-", "_")
    taken: set[str] = set()
    signals = [(_signal_name(prefix, one, taken), one) for one in counters]
    objects = ", ".join(_quoted(one) for one in dict.fromkeys(one.object for one in counters))
    first, _ = signals[0]
    return (
        f"{head}\npack: {name}\ntitle: {_quoted(name)}\nabout: What these limits are for, and where they come from.\n"
        f"applies_to: {{objects: [{objects}]}}\n\n"
        "# Say of each what it measures, and correct the unit: it is guessed from the name.\nsignals:\n"
        + "\n".join(_signal(signal, one) for signal, one in signals)
        + f"""
# A rule for each limit. plimsoll rules new FILE shows all that a rule can say; begin with
#
#   - id: {name}-{first.partition(".")[2].replace("_", "-")}
#     signal: {first}
#     healthy: "<= 10"             # crossed above it
#     over: 1m                     # the mean of the last minute
#     for: 5m                      # must stay above the limit for so long
#     severity: warning            # info, warning or critical
#     summary: What a crossing means, in a sentence.
#     sources: [{{document: Where the limit is from, place: the page}}]
rules: []
"""
    )


def _signal(name: str, one: UnknownCounter) -> str:
    lines = [
        f"  {name}:",
        f"    title: {_quoted(one.counter)}",
        f"    unit: {_quoted(_unit(one.counter))}",
        f"    meaning: {_quoted(f'What {one.object} counts as {one.counter}.')}",
        *(["    instances: each"] if one.each else []),
        "    sources:",
        f"      - {_quoted(one.path)}",
        "",
    ]
    return "\n".join(lines)


def _signal_name(prefix: str, one: UnknownCounter, taken: set[str]) -> str:
    """`mine.requests_per_sec`; a number is added where two counters have one name."""
    words = re.sub(r"[^a-z0-9]+", "_", one.counter.casefold().replace("%", " percent ").replace("/", " per ")).strip(
        "_"
    )
    base = f"{prefix}.{words if words[:1].isalpha() else f'counter_{words}'.rstrip('_')}"
    name, number = base, 2
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    taken.add(name)
    return name


def _unit(counter: str) -> str:
    return next((unit for pattern, unit in _UNITS if re.search(pattern, counter.casefold())), _COUNTED)


def _quoted(text: str) -> str:
    """Single quotes, in which YAML takes every character as it is; control characters of a log are left out."""
    return "'" + "".join(one for one in text if one.isprintable()).replace("'", "''") + "'"
