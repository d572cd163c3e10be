"""InfluxQL conditions that select the points of a host or an instance."""

from plimsoll.export.grafana.selections import POLLED, Selection
from plimsoll.store.influx.quoting import identifier, literal, whole

HOST_VARIABLE = "host"
INSTANCE_VARIABLE = "instance"


def chosen(selection: Selection) -> tuple[str, ...]:
    """Return the conditions for the subjects chosen with a dashboard's variables `host` and `instance`."""
    conditions = [f"{identifier(selection.host)} =~ /^${HOST_VARIABLE}$/"]
    if selection.instance:
        conditions.append(f"{identifier(selection.instance)} =~ /^${INSTANCE_VARIABLE}$/")
    return tuple(conditions)


def only(selection: Selection, host: str, instance: str | None = None) -> str:
    """Return the condition for points of this host, or of this instance of it, ignoring case."""
    own = _is_computer(selection, host)
    return own if instance is None else f"{own} AND {_is(selection.instance or 'instance', instance)}"


def without(selection: Selection, host: str, instance: str | None = None) -> str:
    """Return the condition for points not of this host, or not of this instance of it."""
    other = _is_other_computer(selection, host)
    return other if instance is None else f"({other} OR {_is(selection.instance or 'instance', instance, '!~')})"


def _is_computer(selection: Selection, name: str) -> str:
    """Same as `rules.subjects.host_of`: points that an agent polls from another computer belong to that computer."""
    own = _is(selection.host, name)
    if POLLED not in selection.group:
        return own
    polled = f"{_is(POLLED, name)} AND {identifier(selection.host)} !~ {whole(_otherwise(name))}"
    return f"(({polled}) OR ({own} AND {identifier(POLLED)} =~ {whole(_itself(name))}))"


def _is_other_computer(selection: Selection, name: str) -> str:
    other = _is(selection.host, name, "!~")
    if POLLED not in selection.group:
        return other
    not_polled = f"{_is(POLLED, name, '!~')} OR {identifier(selection.host)} =~ {whole(_otherwise(name))}"
    return f"(({not_polled}) AND ({other} OR {identifier(POLLED)} !~ {whole(_itself(name))}))"


def _otherwise(name: str) -> str:
    """Return a pattern for the other form of a name: without its domain if it has one, else with any domain."""
    short, domain, _ = _as_stored(name).partition(".")
    return literal(short) if domain else rf"{literal(short)}\..*"


def _itself(name: str) -> str:
    """Return a pattern for the names a computer uses for itself: either form, `localhost`, or none."""
    return f"({literal(_as_stored(name))}|{_otherwise(name)}|localhost)?"


def _is(tag: str, value: str, operator: str = "=~") -> str:
    return f"{identifier(tag)} {operator} {whole(literal(_as_stored(value)))}"


def _as_stored(value: str) -> str:
    """Return the value of a tag as it is stored by line protocol."""
    return value.replace("\n", " ").replace("\r", " ").rstrip("\\")
