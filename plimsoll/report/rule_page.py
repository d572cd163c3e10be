"""Rules and signals as Markdown that reads as plain text, for `plimsoll rules explain`, docs/rules and HTML pages."""

import re
from collections.abc import Iterator, Mapping

from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.remark import format_count
from plimsoll.model.times import format_duration
from plimsoll.model.value_text import format_percent
from plimsoll.rules.host_filter import describe_hosts
from plimsoll.rules.schema.pack import OFTEN, Condition, Pack, Rule
from plimsoll.rules.schema.signal import Derivation, Fields, Signal, Source, Transform
from plimsoll.rules.schema.units import find_unit
from plimsoll.rules.window import OPERATORS
from plimsoll.rules.wording import describe_crossed, describe_healthy, limit_text, name_counted

_CODE = re.compile(r"`([^`]*)`")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_HEADING = re.compile(r"#+ ")
Signals = Mapping[str, Signal]
_REDUCED = {
    "mean": "the mean",
    "min": "the lowest value",
    "max": "the highest value",
    "last": "the last value",
    "sum": "the sum",
    "count": "the number of samples",
    "median": "the median",
    "increase": "the increase",
}


def explain(rule: Rule, pack: Pack, signals: Signals) -> str:
    """Return the page of a rule as Markdown: counter, threshold, reason, sources, and the signals to look at next."""
    head = f"# {rule.id}\n\n{rule.summary}\n\nSeverity: {rule.severity}. Pack: {pack.pack} ({pack.title})."
    parts = [f"## {title}\n\n{text}" for title, text in list_sections(rule, signals)]
    return "\n\n".join([head, *parts]) + "\n"


def list_sections(rule: Rule, signals: Signals) -> Iterator[tuple[str, str]]:
    """Yield the headings of a rule's page, each with its text."""
    yield "What is counted", "\n\n".join(describe_signal(name, signals) for name in _list_family(rule.signal, signals))
    yield "Threshold", "\n".join(_describe_threshold(rule, signals))
    hint = f"Measured on {rule.measured_on}; on other hardware take it as a hint." if rule.measured_on else ""
    if reasons := [part for part in (rule.why.strip(), hint) if part]:
        yield "Why", "\n\n".join(reasons)
    yield "Sources", "\n".join(f"- {line}" for line in _list_sources(rule))
    if rule.look_at:
        yield "What to look at next", "\n".join(f"- {_name_signal(name, signals)}" for name in rule.look_at)


def describe_signal(name: str, signals: Signals) -> str:
    """Return Markdown on a signal: its meaning, its unit, and its sources or the signals from which it is computed."""
    signal = signals[name]
    worse = "" if signal.worse == "either" else f"; {signal.worse} is worse"
    kept = ". Each instance is judged on its own" if signal.instances == "each" else ""
    unit = {"/s": "events per second", "s": "seconds", "ms": "milliseconds"}.get(signal.unit, signal.unit)
    head = f"**{signal.title}** (`{name}`), in {unit}{worse}{kept}.\n\n{signal.meaning.strip()}"
    if signal.derived:
        return f"{head}\n\nIt is {_describe_derivation(signal.derived, signals)}."
    if signal.fact:
        return f"{head}\n\nIt is `{signal.fact}` of the host, as plimsoll.toml gives it, throughout."
    taken = "Taken from" if len(signal.sources) == 1 else "Taken from the first of these that is recorded"
    if signal.instances == "sum":
        taken = "Added up over the instances of the host that have data. " + taken
    return f"{head}\n\n{taken}:\n\n" + "\n".join(f"- {describe_source(source)}" for source in signal.sources)


def describe_source(source: Source) -> str:
    r"""Return a source of a signal and how its values are converted: `` `\Memory\Available KBytes`, times 1,024``."""
    if source.path is not None:
        where = f"`{source.path}`"
    else:
        tags = " and ".join(f"`{tag}` is `{value}`" for tag, value in source.tags.items())
        where = f"measurement `{source.measurement}`, {_describe_field(source)}" + (f", where {tags}" if tags else "")
        where += f", for each `{source.instance}`" if source.instance else ""
        where += f", the host being `{source.host}`" if source.host else ""
    where += f", without {' and '.join(f'`{name}`' for name in source.but)}" if source.but else ""
    shared = f"for each {name_counted(source.per, 1)} of the host" if source.per else ""
    unknown = " or ".join(f"{value:.12g}" for value in source.transform.unknown)
    unknown = f"not known where it is {unknown}" if unknown else ""
    parts = [where, _describe_growth(source), _transform(source.transform), unknown, shared]
    return ", ".join(part for part in parts if part)


def _describe_field(source: Source) -> str:
    """Return the field of a source as text: `` field `x` `` or `` fields `x` + `y` ``."""
    names = [f"`{name}`" for name in source.fields]
    if not isinstance(source.field, Fields):
        return f"field {names[0]}"
    return f"fields {f' {OPERATORS[source.field.operation]} '.join(names)}"


def _describe_growth(source: Source) -> str:
    if not source.rate:
        return ""
    if not isinstance(source.field, Fields):
        return "as a rate of the growing count"
    whole = "each by its growth between two samples"
    return whole if source.field.operation == "ratio" else f"{whole}, per second"


def format_threshold(condition: Condition, signals: Signals) -> str:
    """Return the limit as a table shows it: `< 80 %`, `≤ 3 requests × spindles`; `…` stands for further conditions."""
    text = limit_text(condition.healthy, find_unit(condition, signals), condition.scale)
    return f"{text} …" if isinstance(condition, Rule) and condition.and_ else text


def _describe_threshold(rule: Rule, signals: Signals) -> Iterator[str]:
    """Yield lines on the threshold of a rule: when it is healthy, crossed, firing and recovered."""
    unit = find_unit(rule, signals)
    yield f"- Healthy: {_describe_reduction(rule)} is {describe_healthy(rule.healthy, unit)}{_describe_unit(rule)}."
    yield f"- Crossed: {describe_crossed(rule.healthy, unit)}{_describe_unit(rule)}" + (
        ", and at the same time:" if rule.and_ else "."
    )
    for condition in rule.and_:
        yield f"  - {_describe_crossing(condition, signals)}."
    yield (
        f"- It fires once it has been crossed for {format_duration(rule.for_)}." if rule.for_ else "- It fires at once."
    )
    if rule.often != OFTEN:
        yield (
            f"- Where it never fires, a run has crossed it often from {format_percent(rule.often)} of the judged time "
            "on."
        )
    if rule.superseded_by:
        names = ", ".join(f"[{name}]({name}.md)" for name in rule.superseded_by)
        yield f"- An old limit: it is a note (info) on hosts where one of these rules of today was judged: {names}."
    if rule.recover:
        yield f"- A crossing lasts until the value is {describe_healthy(rule.recover, unit)}{_describe_unit(rule)}."
    if rule.scale:
        yield f"- The limit is for one {name_counted(rule.scale, 1)}: it is multiplied by what the host has."
    if rule.where:
        otherwise = {
            None: "where that is not known it is not judged",
            "judge": "where that is not known it is judged all the same",
            "info": "where that is not known it is judged as a note (info)",
            "skip": "where that is not known it does not apply",
        }
        others = "; on others it is a note (info)" if rule.where_outside == "info" else ""
        yield f"- Only for {describe_hosts(rule)}{others}; {otherwise[rule.where_unknown]}."
    if rule.drive:
        yield f"- Only for disks that plimsoll.toml marks as a {rule.drive} drive."
    if rule.phase:
        yield f'- Judged in the phase "{rule.phase}" alone. Where phases are not known it is judged throughout' + (
            ", and crossed only while also:" if rule.when_phase_unknown else "."
        )
        for condition in rule.when_phase_unknown:
            yield f"  - {_describe_crossing(condition, signals)}."


def _describe_crossing(condition: Condition, signals: Signals) -> str:
    crossed = describe_crossed(condition.healthy, find_unit(condition, signals)) + _describe_unit(condition)
    return f"{_describe_reduction(condition)} of {_name_signal(condition.signal, signals)} is {crossed}"


def _describe_unit(condition: Condition) -> str:
    return f" for each {name_counted(condition.scale, 1)}" if condition.scale else ""


def _describe_reduction(condition: Condition) -> str:
    return _REDUCED[condition.reduce] + (f" over {format_duration(condition.over)}" if condition.over else "")


def _list_sources(rule: Rule) -> Iterator[str]:
    for source in rule.sources:
        yield f"{source.document}, {source.place}" + (f": “{source.quote.strip()}”" if source.quote else "")
    if rule.thresholds:
        yield f"Carries out {', '.join(rule.thresholds)} of tests/data/thresholds.csv."


def _name_signal(name: str, signals: Signals) -> str:
    return f"{signals[name].title} (`{name}`)"


def _describe_derivation(derived: Derivation, signals: Signals) -> str:
    names = [_name_signal(name, signals) for name in derived.operands]
    if derived.times:
        return f"the sum of {', '.join(names[:-2])} and {names[-2]}, times {names[-1]}"
    if derived.sum:
        return f"the sum of {', '.join(names[:-1])} and {names[-1]}{_describe_weights(derived, signals)}"
    return f"{names[0]} less {names[1]}" if derived.difference else f"{names[0]} divided by {names[1]}"


def _describe_weights(derived: Derivation, signals: Signals) -> str:
    """Return a text on the weights of operands: `; Disk writes count 2 times with raid = 1 or 10, else once`."""
    text = ""
    for name, weight in derived.weights.items():
        by_times = group_pairs((times, value) for value, times in weight.values.items() if times != weight.unknown)
        parts = [f"{times:g} times with {weight.by} = {' or '.join(map(str, of))}" for times, of in by_times.items()]
        text += f"; {signals[name].title} count {', '.join(parts)}, else {format_count(round(weight.unknown), 'time')}"
    return text


def _transform(transform: Transform) -> str:
    times = "" if transform.scale == 1 else f"multiplied by {transform.scale:.12g}"
    if transform.scale == -1 and transform.offset:
        return f"taken from {transform.offset:.12g}"
    return " and ".join(
        part for part in (times, f"raised by {transform.offset:.12g}" if transform.offset else "") if part
    )


def _list_family(name: str, signals: Signals) -> Iterator[str]:
    """Yield the name of a signal, then the names of the signals from which it is derived."""
    yield name
    if derived := signals[name].derived:
        for operand in derived.operands:
            yield from _list_family(operand, signals)


def strip_markdown(markdown: str) -> Iterator[str]:
    """Yield the lines of a text without Markdown's marks, except in code; lines below a subheading are indented."""
    below = False
    for line in markdown.rstrip("\n").split("\n"):
        if heading := _HEADING.match(line):
            below = len(heading[0]) > 2
            yield _strip_marks(line[heading.end() :])
        elif line.strip():
            yield f"{'  ' if below else ''}{_strip_marks(line)}"
        else:
            yield ""


def _strip_marks(line: str) -> str:
    """Return a line without the marks of Markdown outside its code."""
    parts = _CODE.split(line)  # text and code alternate
    parts[::2] = [_LINK.sub(r"\1", text).replace("**", "") for text in parts[::2]]
    return "".join(parts)
