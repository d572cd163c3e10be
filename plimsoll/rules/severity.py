"""Severities: their order, and the mark and colour of each. A mark stands wherever a colour does."""

from collections.abc import Mapping, Sequence

from plimsoll.rules.schema.field_types import Severity

SEVERITIES: Sequence[Severity] = ("critical", "warning", "info")  # the gravest first
MARKS: Mapping[str, str] = {"critical": "◆", "warning": "▲", "info": "○"}
COLOURS: Mapping[str, str] = {"critical": "red", "warning": "yellow", "info": "cyan"}  # on a terminal


def gravity(severity: str) -> int:
    """How grave a severity is: 0 for info, and more for what is graver."""
    return len(SEVERITIES) - 1 - [*SEVERITIES].index(severity)
