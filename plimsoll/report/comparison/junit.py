"""A comparison as JUnit XML: a suite for each run that was compared, a case for each signal of a host.

A case fails where a critical signal regressed; it is skipped where there are too few samples to tell. The first case
says whether the run is worse: an error where that is not known, a failure where no signal alone says so.
"""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.doubts import doubts
from plimsoll.comparison.judging import Compared, Outcome
from plimsoll.comparison.sentences import moved, place, title
from plimsoll.comparison.story import Answer, answer, critical, story
from plimsoll.report.comparison.words import TITLES, cells
from plimsoll.report.junit import show_invisible_characters


def junit(comparisons: Sequence[Comparison]) -> str:
    """The XML."""
    root = Element("testsuites", name="plimsoll compare")
    for comparison in comparisons:
        suite = SubElement(root, "testsuite", name=f"{comparison.second.name} compared with {comparison.first.name}")
        _verdict(suite, comparison)
        groups: dict[tuple[str, str], list[Compared]] = {}
        for one in comparison.judged:
            groups.setdefault((one.name, one.subject.host), []).append(one)
        for (name, host), found in groups.items():
            _case(suite, name, host, found)
    return counted_xml(root)


def counted_xml(root: Element) -> str:
    """The XML of suites, with the number of their cases."""
    for suite in root:
        _count(suite)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    show_invisible_characters(root)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _verdict(suite: Element, comparison: Comparison) -> None:
    case = SubElement(suite, "testcase", classname="comparison", name="the run is not worse")
    said = answer(comparison)
    if said == Answer.UNKNOWN:
        SubElement(case, "error", type="not-known", message="; ".join(doubts(comparison)))
    elif comparison.load.throughput_lost:
        SubElement(case, "failure", type="throughput", message=story(comparison)[0])
    elif said == Answer.WORSE and not critical(comparison):
        SubElement(case, "failure", type="worse", message=story(comparison)[1])
    SubElement(case, "system-out").text = "\n".join(story(comparison))


def _case(suite: Element, name: str, host: str, found: Sequence[Compared]) -> None:
    case = SubElement(suite, "testcase", classname=name.partition(".")[0], name=f"{name} on {host}")
    failed = [one for one in found if one.outcome == Outcome.REGRESSION and one.treatment.critical]
    if failed:
        worst = failed[0]
        message = f"{title(worst)} of {place(worst)} {moved(worst)}"
        SubElement(case, "failure", type="regression", message=message).text = "\n".join(map(_line, failed))
    elif all(one.outcome == Outcome.UNCLEAR for one in found):
        SubElement(case, "skipped", message="too few samples to tell")
    SubElement(case, "system-out").text = "\n".join(map(_line, found))


def _line(one: Compared) -> str:
    first, second, change, interval, effective = cells(one)
    change = f" ({change})" if change else ""
    return (
        f"{place(one)}: {TITLES[one.outcome].lower()}: {first} to {second}{change}, difference {interval} (95 %), "
        f"{effective} independent samples"
    )


def _count(suite: Element) -> None:
    suite.set("tests", str(len(suite)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
