"""A series of runs as JUnit XML: a case for each signal of a host or instance.

A case fails where the latest change of its signal is one for the worse, with the run since which it is. The first case
says whether that can be told: an error where there are too few runs.
"""

from xml.etree.ElementTree import Element, SubElement

from plimsoll.comparison.trend import Course, Trend
from plimsoll.report.comparison.junit import counted_xml
from plimsoll.report.comparison.trend import answer, change_text, limits_of, scope


def junit(found: Trend) -> str:
    """The XML."""
    root = Element("testsuites", name="plimsoll runs trend")
    suite = SubElement(root, "testsuite", name=f"{found.runs[0].name} to {found.runs[-1].name}")
    case = SubElement(suite, "testcase", classname="trend", name="a change could be told")
    if not found.changes and not found.can_tell:
        SubElement(case, "error", type="not-known", message=next(limits_of(found)))
    SubElement(case, "system-out").text = "\n".join((f"{answer(found)} {scope(found)}", *limits_of(found)))
    for one in found.courses:
        _case(suite, one)
    return counted_xml(root)


def _case(suite: Element, one: Course) -> None:
    case = SubElement(suite, "testcase", classname=one.name.partition(".")[0], name=f"{one.name} on {one.subject}")
    said = [f"since {change.run.name}: {one.signal.title} {change_text(change)}" for change in one.changes]
    if one.changes and one.changes[-1].is_worse:
        SubElement(case, "failure", type="regression", message=said[-1])
    SubElement(case, "system-out").text = "\n".join(said) or "no change"
