"""Values that Grafana writes when a rule fires."""

# Of units whose values grow long: the function of Grafana's templates that writes a value with a prefix, and what
# follows the prefix.
_PREFIXED = {"bytes": ("humanize1024", "B"), "bytes/s": ("humanize", "B/s")}


def template(ref_id: str, unit: str) -> str:
    """The value of a refId for an annotation of Grafana's, which writes it when the rule fires."""
    value = f"$values.{ref_id}.Value"
    if unit in _PREFIXED:
        function, rest = _PREFIXED[unit]
        return f"{{{{ {function} {value} }}}}{rest}"
    return f'{{{{ printf "%.6g" {value} }}}}{_unit(unit)}'


def _unit(unit: str) -> str:
    return "" if unit == "ratio" else f" {unit}"
