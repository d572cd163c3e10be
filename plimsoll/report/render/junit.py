"""Renders suites of checks as JUnit XML for build servers. A case's `time` is the duration of its check in seconds."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from plimsoll.model.document import DocumentCheck, Suite
from plimsoll.model.errors import escape_printable_lines
from plimsoll.model.times import convert_to_datetime

_TAGS = {"failed": "failure", "error": "error", "skipped": "skipped"}
_COUNTS = {"failures": "failed", "errors": "error", "skipped": "skipped"}


def render_junit(name: str, suites: Sequence[Suite], *, timed: bool = False) -> str:
    """Return the suites as JUnit XML; if `timed`, with the durations of the checks."""
    root = Element("testsuites", name=name)
    _count(root, [check for suite in suites for check in suite.checks], timed=timed)
    for suite in suites:
        element = SubElement(root, "testsuite", name=suite.name)
        if suite.start is not None:
            element.set("timestamp", convert_to_datetime(suite.start).strftime("%Y-%m-%dT%H:%M:%S"))
        _count(element, suite.checks, timed=timed)
        for check in suite.checks:
            case = SubElement(element, "testcase", classname=check.group, name=check.name)
            if timed:
                case.set("time", f"{check.duration_s:.3f}")
            if check.state != "passed":
                outcome = SubElement(case, _TAGS[check.state], {"type": check.type} if check.type else {})
                outcome.set("message", check.message)
                outcome.text = "\n".join(check.details) or None
            if check.output:
                SubElement(case, "system-out").text = "\n".join(check.output)
    for element in root.iter():  # most characters that cannot be seen are not allowed in XML 1.0, not even escaped
        element.text = element.text and escape_printable_lines(element.text)
        for key, value in element.items():
            element.set(key, escape_printable_lines(value))
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _count(element: Element, checks: Sequence[DocumentCheck], *, timed: bool) -> None:
    element.set("tests", str(len(checks)))
    for name, state in _COUNTS.items():
        element.set(name, str(sum(check.state == state for check in checks)))
    if timed:
        element.set("time", f"{sum(check.duration_s for check in checks):.3f}")
