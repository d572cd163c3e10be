"""Reads the text in which exporters of Prometheus give their metrics, version 0.0.4.

https://prometheus.io/docs/instrumenting/exposition_formats
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from plimsoll.receive.exporters.accepted_metrics import NotMetrics

_SAMPLE = re.compile(
    rb"([a-zA-Z_:][a-zA-Z0-9_:]*)"
    rb'(?:[ \t]*\{((?:[^"{}]|"(?:[^"\\]|\\.)*+")*+)\})?'
    rb"[ \t]*(?<=[ \t}])([^ \t]+)(?:[ \t]+(-?[0-9]+))?[ \t]*"
)
_LABEL = re.compile(rb'[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*+)"[ \t]*(?:,|\Z)')
_ESCAPED = re.compile(r'\\([\\"n])')
_MS = 1_000_000
_LONGEST_SHOWN = 60


class Sample(NamedTuple):
    """A sample: the name of its metric, the text of its labels, its value, and its time (UTC ns) if it has one."""

    name: str
    labels_text: bytes
    value: float
    time: int | None

    @property
    def labels(self) -> dict[str, str]:
        """The labels. NotMetrics if the text is none."""
        found: dict[str, str] = {}
        at = 0
        while at < len(self.labels_text.rstrip(b" \t")):
            label = _LABEL.match(self.labels_text, at)
            if label is None:
                raise NotMetrics(f"{self.name}: its labels are not valid")
            found[label[1].decode()] = _ESCAPED.sub(_plain, label[2].decode("utf-8", "replace"))
            at = label.end()
        return found


def samples(text: bytes) -> Iterator[Sample]:
    """The samples of a text. NotMetrics if it is not in the format."""
    for number, written in enumerate(text.split(b"\n"), 1):
        line = written.strip(b" \t\r")
        if not line or line.startswith(b"#"):
            continue
        found = _SAMPLE.fullmatch(line)
        try:
            if found is None:
                raise ValueError
            name, labels, value, time = found.groups()
            yield Sample(name.decode(), labels or b"", float(value), int(time) * _MS if time else None)
        except ValueError:
            shown = line[:_LONGEST_SHOWN].decode("utf-8", "backslashreplace")
            raise NotMetrics(f'line {number} is no metric of Prometheus: "{shown}"') from None


def _plain(escaped: re.Match[str]) -> str:
    return "\n" if escaped[1] == "n" else escaped[1]
