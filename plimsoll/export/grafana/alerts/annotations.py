"""What alerts say: the annotations that notifications show."""

from collections.abc import Iterator

from plimsoll.export.grafana.alerts.file import plain
from plimsoll.export.grafana.alerts.query import BoundCondition
from plimsoll.export.grafana.alerts.sources import counted_unrecorded
from plimsoll.export.grafana.links import rule_page
from plimsoll.export.grafana.selections import Variant
from plimsoll.hosts.site import Target
from plimsoll.model.remark import counted
from plimsoll.model.times import duration_text
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.superseded import is_note
from plimsoll.rules.wording import limit_text


def annotations(
    rule: Rule,
    target: Target,
    signal: Signal,
    own: BoundCondition,
    shown: str,
    docs: str,
    critical: Rule | None,
) -> dict[str, str]:
    """What a notification says of an alert. `shown` is the template of its value, `docs` the URL of rules' pages."""
    where = "".join(f"{{{{ with $labels.{tag} }}}} {{{{ . }}}}{{{{ end }}}}" for tag in _shown(own.variant))
    limit = limit_text(own.healthy, signal.unit)
    notes = [target.note] if target.note else []
    if target.factors:
        factors = ", ".join(f"{fact} = {number:g}" for fact, number in target.factors.items())
        notes.append(f"The limit is for {factors}; one is assumed where plimsoll.toml does not say.")
    if rule.phase:
        notes.append(f"Documented for the phase {rule.phase}; phases are not known here, so it is judged at all times.")
    if critical:
        notes.append(f"Not while {critical.id} is crossed.")
    for weight in filter(None, own.variant.weights):
        fact = target.known(weight.by)
        basis = f"{weight.by} = {fact:g}" if fact is not None else f"{weight.by} is not known"
        notes.append(f"Each write is counted {counted(round(weight.of(fact)), 'time')}: {basis}.")
    if unrecorded := counted_unrecorded(rule):
        notes.append(f"Judged here only where {' and '.join(unrecorded)} is recorded too.")
    if is_note(rule):
        notes.append(f"An old limit, a note only: of today are {' and '.join(rule.superseded_by)}.")
    if rule.measured_on:
        notes.append(f"Measured on {rule.measured_on}.")
    told = {
        "summary": plain(rule.summary),
        "description": f"{signal.title} of{where} is {shown}; healthy is {limit}.",
        "value": shown,
        "limit": f"{limit} ({rule.reduce} over {duration_text(own.window)})",
        "source": plain("; ".join(f"{one.document}, {one.place}" for one in rule.sources)),
        "runbook_url": rule_page(rule.id, docs),
    }
    if notes:
        told["note"] = plain(" ".join(notes))
    return told


def _shown(variant: Variant) -> Iterator[str]:
    """Return the tags of a variant that name the subject in annotations."""
    instances = {one.instance for one in variant.selections}
    hosts = {one.host for one in variant.selections}
    servers = {"objectname"} if any(one.sql_object for one in variant.selections) else set[str]()
    return (tag for tag in variant.group if tag in hosts | instances | servers)
