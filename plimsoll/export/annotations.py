"""Builds the annotations of exported alert rules, which notifications show."""

from plimsoll.export.rule_sources import BoundCondition, list_signals_counted_unrecorded
from plimsoll.export.selections import OBJECT
from plimsoll.hosts.site import Target
from plimsoll.model.remark import format_count
from plimsoll.model.times import format_duration
from plimsoll.rules.host_filter import is_note
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.wording import limit_text

# The template function that formats a value with an SI or binary prefix, or as a percentage, and the unit after it.
_PREFIXED = {"bytes": ("humanize1024", "B"), "bytes/s": ("humanize", "B/s"), "share": ("humanizePercentage", "")}
# Grafana serves the files in its public/ folder; docs/rules is mounted there.
DOCS = "/public/plimsoll/"


def make_rule_url(rule: str, docs: str = DOCS) -> str:
    """Return the URL of a rule's documentation page below the URL `docs`."""
    return f"{docs.rstrip('/')}/rules/{rule}.md"


def make_value_template(variable: str, unit: str) -> str:
    """Return the template by which Grafana and Prometheus show the value of a variable with its unit."""
    function, suffix = _PREFIXED.get(unit, ('printf "%.6g"', "" if unit in ("ratio", "state") else f" {unit}"))
    return f"{{{{ {function} {variable} }}}}{suffix}"


def escape_braces(text: str) -> str:
    """Escape `{{` in an annotation's text, which Grafana would otherwise execute as a template."""
    return text.replace("{{", '{{ "{{" }}')


def make_annotations(
    target: Target, signal: Signal, bound: BoundCondition, template: str, docs: str, critical: Rule | None = None
) -> dict[str, str]:
    """Return the annotations of an alert rule.

    `template` shows the alert's value. `docs` is the URL of the rules' pages; if empty, there is no link to the page.
    With `critical`, a note says that the alert does not fire while that critical rule is crossed.
    """
    rule, limit = target.rule, limit_text(bound.healthy, signal.unit)
    subject = "".join(f"{{{{ with $labels.{tag} }}}} {{{{ . }}}}{{{{ end }}}}" for tag in _list_subject_tags(bound))
    texts = {
        "summary": escape_braces(rule.summary),
        "description": f"{signal.title} of{subject} is {template}; healthy is {limit}.",
        "value": template,
        "limit": f"{limit} ({rule.reduce} over {format_duration(bound.window)})",
        "source": escape_braces("; ".join(f"{source.document}, {source.place}" for source in rule.sources)),
    }
    if docs:
        texts["runbook_url"] = make_rule_url(rule.id, docs)
    notes = " ".join(_list_notes(target, bound, critical))
    return {**texts, "note": escape_braces(notes)} if notes else texts


def _list_notes(target: Target, bound: BoundCondition, critical: Rule | None) -> list[str]:
    """Return sentences on how the exported rule differs from the documented rule, and on facts that are assumed."""
    rule = target.rule
    notes = [target.note] if target.note else []
    if target.factors:
        factors = ", ".join(f"{fact} = {number:g}" for fact, number in target.factors.items())
        notes.append(f"The limit is for {factors}; one is assumed where plimsoll.toml does not say.")
    if rule.phase:
        notes.append(f"Documented for the {rule.phase} phase of a test; here it is judged at all times.")
    if critical:
        notes.append(f"Not while {critical.id} is crossed.")
    for weight in filter(None, bound.variant.weights):
        fact = target.fact_value(weight.by)
        basis = f"{weight.by} = {fact:g}" if fact is not None else f"{weight.by} is not known"
        notes.append(f"Each write is counted {format_count(round(weight.of(fact)), 'time')}: {basis}.")
    if unrecorded := list_signals_counted_unrecorded(rule):
        notes.append(f"Judged here only where {' and '.join(unrecorded)} is recorded too.")
    if is_note(rule):
        notes.append(f"An old limit, a note only: of today are {' and '.join(rule.superseded_by)}.")
    if rule.measured_on:
        notes.append(f"Measured on {rule.measured_on}.")
    return notes


def _list_subject_tags(bound: BoundCondition) -> list[str]:
    """Return the tags that name an alert's subject, such as host and instance."""
    selections = bound.variant.selections
    tags = {tag for selection in selections for tag in (selection.host, selection.instance)}
    tags |= {OBJECT} if any(selection.sql_object for selection in selections) else set()
    return [tag for tag in bound.variant.group if tag in tags]
