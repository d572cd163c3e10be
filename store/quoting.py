"""Names and values as InfluxQL and InfluxDB's delete predicates write them."""


def identifier(name: str) -> str:
    """A measurement, field or tag: `"Percent_Processor_Time"`."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def string(text: str) -> str:
    r"""A string: `'\\??\\D:\\pagefile.sys'`."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
