"""Templates in annotations, which Prometheus and vmalert fill in when an alert fires."""

# For units with large values: the template function that writes a value with an SI or binary prefix, and the unit.
_PREFIXED = {"bytes": ("humanize1024", "B"), "bytes/s": ("humanize", "B/s")}


def in_words(unit: str) -> str:
    """The template for the value of an alert with its unit; +Inf is that of an alert that has no data any more."""
    function, shown = _PREFIXED.get(unit, ('printf "%.6g"', "" if unit == "ratio" else f" {unit}"))
    number = f"{{{{ {function} $value }}}}{shown}"
    return f'{{{{ if eq (printf "%g" $value) "+Inf" }}}}not known now (no data){{{{ else }}}}{number}{{{{ end }}}}'
