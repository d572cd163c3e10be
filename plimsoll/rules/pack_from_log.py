"""A pack with a signal for each counter of a log that no signal reads: `plimsoll rules new --from LOG`."""

import re
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

from plimsoll.model.counter_names.unrecognised import UnknownCounter

# The unit of a counter by a pattern of its name; the first match counts.
_UNITS = (
    (r"sec/|\(sec\)| in seconds|\(s\)$", "s"),
    (r"\(ms\)|\(msec\)|latency|milliseconds", "ms"),
    (r"bytes/s", "bytes/s"),
    (r"/ ?s(ec)?\b|per sec", "/s"),
    (r"%|percent", "%"),
    (r"mbytes", "MB"),
    (r"\bbytes\b", "bytes"),
    ("", "requests"),
)
_PACK = """\
{head}
pack: {name}
title: {title}
about: What these limits are for, and where they come from.
applies_to: {{objects: [{objects}]}}

# Say of each what it measures, and correct the unit: it is guessed from the name.
signals:
{signals}
# A rule for each limit. plimsoll rules new FILE shows all that a rule can say; begin with
#
#   - id: {name}-{first_id}
#     signal: {first}
#     healthy: "<= 10"             # crossed above it
#     over: 1m                     # the mean of the last minute
#     for: 5m                      # must stay above the limit for so long
#     severity: warning            # info, warning or critical
#     summary: What a crossing means, in a sentence.
#     sources: [{{document: Where the limit is from, place: the page}}]
rules: []
"""
_SIGNAL = """\
  {name}:
    title: {title}
    unit: {unit}
    meaning: {meaning}
{instances}    sources:
      - {path}
"""


def choose_counters(counters: Sequence[UnknownCounter], patterns: Sequence[str]) -> list[UnknownCounter]:
    r"""Return the counters whose `Object\Counter` matches any pattern (`*`: any text); all if there are no patterns."""
    folded = [pattern.casefold().lstrip("\\").replace("[", "[[]") for pattern in patterns] or ["*"]
    names = {counter: f"{counter.object}\\{counter.counter}".casefold() for counter in counters}
    return [counter for counter, name in names.items() if any(fnmatchcase(name, pattern) for pattern in folded)]


def pack_text(name: str, head: str, counters: Sequence[UnknownCounter]) -> str:
    """Return the text of a pack: `head`, a signal for each counter, and an example of a rule on the first signal."""
    signals: dict[str, UnknownCounter] = {}
    for counter in counters:
        signals[_name_signal(name.replace("-", "_"), counter, signals)] = counter
    first = next(iter(signals))
    return _PACK.format(
        head=head,
        name=name,
        title=_quote_yaml(name),
        objects=", ".join(map(_quote_yaml, dict.fromkeys(counter.object for counter in counters))),
        signals="\n".join(
            _SIGNAL.format(
                name=signal,
                title=_quote_yaml(counter.counter),
                unit=_quote_yaml(
                    next(unit for pattern, unit in _UNITS if re.search(pattern, counter.counter.casefold()))
                ),
                meaning=_quote_yaml(f"What {counter.object} counts as {counter.counter}."),
                instances="    instances: each\n" if counter.is_per_instance else "",
                path=_quote_yaml(counter.path),
            )
            for signal, counter in signals.items()
        ),
        first_id=first.partition(".")[2].replace("_", "-"),
        first=first,
    )


def _name_signal(prefix: str, counter: UnknownCounter, taken: Collection[str]) -> str:
    """Return a signal name such as `mine.requests_per_sec`, with a number appended if the name is in `taken`."""
    words = counter.counter.casefold().replace("%", " percent ").replace("/", " per ")
    words = re.sub(r"[^a-z0-9]+", "_", words).strip("_")
    base = name = f"{prefix}.{words if words[:1].isalpha() else f'counter_{words}'.rstrip('_')}"
    number = 2
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    return name


def _quote_yaml(text: str) -> str:
    """Return a text as a YAML scalar in single quotes, without the text's control characters."""
    return "'" + "".join(letter for letter in text if letter.isprintable()).replace("'", "''") + "'"
