"""Templates in annotations, which Grafana fills in when a rule fires."""

# For units with large values: the template function that writes a value with an SI or binary prefix, and the unit.
_PREFIXED = {"bytes": ("humanize1024", "B"), "bytes/s": ("humanize", "B/s")}


def template(ref_id: str, unit: str) -> str:
    """Return the template for the value of a refId with its unit."""
    value = f"$values.{ref_id}.Value"
    if unit in _PREFIXED:
        function, rest = _PREFIXED[unit]
        return f"{{{{ {function} {value} }}}}{rest}"
    return f'{{{{ printf "%.6g" {value} }}}}{_unit(unit)}'


def _unit(unit: str) -> str:
    return "" if unit in ("ratio", "state") else f" {unit}"
