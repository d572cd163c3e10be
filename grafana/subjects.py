"""The conditions that a point of a selection is of a host or an instance."""

from grafana.selections import POLLED, Selection
from store.quoting import identifier, literal, whole

HOST_VARIABLE = "host"
INSTANCE_VARIABLE = "instance"


def chosen(selection: Selection) -> tuple[str, ...]:
    """The conditions by which a dashboard's variables `host` and `instance` choose subjects."""
    conditions = [f"{identifier(selection.host)} =~ /^${HOST_VARIABLE}$/"]
    if selection.instance:
        conditions.append(f"{identifier(selection.instance)} =~ /^${INSTANCE_VARIABLE}$/")
    return tuple(conditions)


def only(selection: Selection, host: str, instance: str | None = None) -> str:
    """The condition that a point is of this host, or of this instance of it; their case does not matter."""
    own = _is_computer(selection, host)
    return own if instance is None else f"{own} AND {_is(selection.instance or 'instance', instance)}"


def without(selection: Selection, host: str, instance: str | None = None) -> str:
    """The condition that a point is not of this host, or not of this instance of it."""
    other = _is_other_computer(selection, host)
    return other if instance is None else f"({other} OR {_is(selection.instance or 'instance', instance, '!~')})"


def _is_computer(selection: Selection, name: str) -> str:
    """What `rules.subjects.host_of` says: an agent that polls other computers is the host of none of their points."""
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
    """The name of a computer without its domain where it has one, else with any."""
    short, domain, _ = _as_stored(name).partition(".")
    return literal(short) if domain else rf"{literal(short)}\..*"


def _itself(name: str) -> str:
    """How a computer names itself: in either way, as this computer, or not at all."""
    return f"({literal(_as_stored(name))}|{_otherwise(name)}|localhost)?"


def _is(tag: str, value: str, operator: str = "=~") -> str:
    return f"{identifier(tag)} {operator} {whole(literal(_as_stored(value)))}"


def _as_stored(value: str) -> str:
    """The value of a tag as line protocol has it."""
    return value.replace("\n", " ").replace("\r", " ").rstrip("\\")
