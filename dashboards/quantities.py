"""Values and limits as people read them, in the units Grafana shows."""

from rules.healthy import Healthy
from rules.schema import Fact

_SIGNS = {"<=": "≤", ">=": "≥"}
_POWERS = (4, 3, 2, 1)
# Of units whose values grow long: the step from one prefix to the next, the prefixes, the rest of the unit, and the
# function of Grafana's templates that writes a value with such a prefix.
_PREFIXED = {
    "bytes": (1024, ("Ki", "Mi", "Gi", "Ti"), "B", "humanize1024"),
    "bytes/s": (1000, ("k", "M", "G", "T"), "B/s", "humanize"),
}


def limit_text(healthy: Healthy, unit: str, per: Fact | None = None) -> str:
    """A limit in a unit of signals.yaml: `< 80 %`, `> 4 MiB`, `≤ 3 requests × spindles`."""
    sign = _SIGNS.get(healthy.operator, healthy.operator)
    return f"{sign} {_quantity(healthy.limit, unit)}{f' × {per}' if per else ''}"


def template(ref_id: str, unit: str) -> str:
    """The value of a refId for an annotation of Grafana's, which writes it when the rule fires."""
    value = f"$values.{ref_id}.Value"
    if unit in _PREFIXED:
        _, _, rest, function = _PREFIXED[unit]
        return f"{{{{ {function} {value} }}}}{rest}"
    return f'{{{{ printf "%.6g" {value} }}}}{_unit(unit)}'


def _quantity(value: float, unit: str) -> str:
    if unit in _PREFIXED:
        base, prefixes, rest, _ = _PREFIXED[unit]
        power = next((power for power in _POWERS if abs(value) >= base**power), 0)
        prefix = prefixes[power - 1] if power else ""
        return f"{_number(value / base**power)} {prefix}{rest}"
    one = value == 1 and len(unit) > 2  # 1 packet; seconds stay s and ms
    return _number(value) + _unit(unit.removesuffix("s") if one else unit)


def _unit(unit: str) -> str:
    return "" if unit == "ratio" else f" {unit}"


def _number(value: float) -> str:
    return f"{value:,.12g}" if value == int(value) else f"{value:,.6g}"
