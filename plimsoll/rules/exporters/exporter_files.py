"""The contents of rules/exporters/*.yaml. Field names here are the names in the files."""

import re
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from plimsoll.model import names
from plimsoll.model.perfmon import SQL_DEFAULT, SQL_NAMED, CounterPath
from plimsoll.model.series import Series
from plimsoll.model.shipped_tables import shipped_files
from plimsoll.model.strict_yaml import read, validate
from plimsoll.rules.exporters.formulas import Formula
from plimsoll.rules.schema.field_types import Sentence, StrictModel

DEFAULT_SERVER = "MSSQLSERVER"  # the name of SQL Server's default instance
_SELECTOR = re.compile(r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:.]*)(?:\{(?P<labels>.*)\})?")
_LABEL = re.compile(r'\s*(\w+)="([^"]*)"\s*(?:,|$)')
_PART = re.compile(r"\{(?P<label>\w+)(?:-(?P<prefix>[^}]*))?\}")


class Metric(NamedTuple):
    """A metric of an exporter: its name, and the labels that a series of it must have."""

    name: str
    labels: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Metric":
        """Parse `name{label="value"}`. ValueError if it is not that."""
        match = _SELECTOR.fullmatch(text)
        labels = tuple(_LABEL.findall(match["labels"])) if match and match["labels"] else ()
        if match is None or (match["labels"] and not labels):
            raise ValueError(f'"{text}" is no metric; write it like name{{label="value"}}')
        return cls(match["name"], labels)


class Template:
    """A text with labels in it: `cpu{cpu}`; `{device-/dev/}` is the label without that beginning."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.labels = tuple(match["label"] for match in _PART.finditer(text))

    @property
    def pattern(self) -> str:
        """The regular expression that matches the value of its first label, without the prefix."""
        part = _PART.search(self._text)
        prefix = (part["prefix"] or "") if part else ""
        return f"(?:{re.escape(prefix)})?(.*)" if prefix else "(.*)"

    @property
    def replacement(self) -> str:
        """The text with `${1}` for the match of `pattern`."""
        return _PART.sub("${1}", self._text)

    def filled(self, labels: dict[str, str]) -> str:
        """Return the text for a series; KeyError if it lacks one of the labels."""
        return _PART.sub(lambda part: labels[part["label"]].removeprefix(part["prefix"] or ""), self._text)


def _texts(value: object) -> object:
    """Return the texts of a list, or of one text. A formula may be a number, or a name that YAML reads as a bool."""
    return tuple(str(text) for text in value) if isinstance(value, list | tuple) else (str(value),)


_Texts = Annotated[tuple[str, ...], BeforeValidator(_texts), Field(min_length=1)]


class MetricGroup(StrictModel):
    """The metrics of one measurement, or of one Perfmon object, and the fields they become."""

    measurement: str | None = Field(default=None, description="Telegraf's measurement.")
    object: str | None = Field(default=None, description="The Perfmon object, in place of a measurement.")
    server: str | None = Field(
        default=None, description="For objects of SQL Server: the label with the name of the server's instance."
    )
    instance: str | None = Field(default=None, description="The instance of the object, with labels in braces.")
    tags: dict[str, str] = Field(default={}, description="Telegraf's tags, with labels in braces.")
    when: dict[str, dict[str, dict[int, str]]] = Field(
        default={}, description="Tags whose value depends on that of a metric: tag, metric, and the tag for each value."
    )
    over: tuple[str, ...] = Field(
        default=(), description="Labels over whose values the metrics are added up: the group is a total."
    )
    but: dict[str, tuple[str, ...]] = Field(
        default={}, description="Series to leave out: patterns of the values of labels."
    )
    metrics: dict[str, _Texts] = Field(
        min_length=1, description="The metrics, under names for the formulas; several are names of one in turn."
    )
    let: dict[str, str] = Field(default={}, description="Names for parts of formulas.")
    fields: dict[str, _Texts] = Field(
        min_length=1, description="Fields, or counters of the object, as formulas; the first that can be computed."
    )

    @cached_property
    def sources(self) -> dict[str, tuple[Metric, ...]]:
        """The metrics by their name in formulas."""
        return {name: tuple(map(Metric.parse, several)) for name, several in self.metrics.items()}

    @cached_property
    def formulas(self) -> dict[str, tuple[Formula, ...]]:
        """The formulas of each field."""
        return {
            name: tuple(Formula(text, self.metrics, self.let) for text in several)
            for name, several in self.fields.items()
        }

    @cached_property
    def templates(self) -> dict[str, Template]:
        """The templates of the tags, and that of the instance under an empty name."""
        instance = {"": Template(self.instance)} if self.instance else {}
        return {name: Template(text) for name, text in self.tags.items()} | instance

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that tell the instances of the group apart."""
        labels = [label for template in self.templates.values() for label in template.labels]
        return tuple(dict.fromkeys([*labels, *([self.server] if self.server else [])]))

    def series(self, host: str, labels: dict[str, str], field: str, chosen: dict[str, str]) -> Series:
        """Return the series of a field; `chosen` are the tags that depend on values. KeyError if a label is missing."""
        filled = {name: template.filled(labels) for name, template in self.templates.items()}
        if self.object is not None:
            object_ = self.object
            if self.server and labels[self.server] != DEFAULT_SERVER:
                object_ = f"{SQL_NAMED}{labels[self.server]}:{self.object.partition(':')[2]}"
            return names.shipped().series(CounterPath(None, object_, filled.get(""), field), host)
        tags = tuple(sorted({**filled, **chosen}.items()))
        return Series(host, self.measurement or "", tags, field)

    @model_validator(mode="after")
    def _makes_sense(self) -> "MetricGroup":
        if (self.measurement is None) == (self.object is None):
            raise ValueError("a group has either a measurement or an object")
        if self.instance is not None and self.object is None:
            raise ValueError("instance is for an object; use tags")
        if self.server and not (self.object or "").startswith(f"{SQL_DEFAULT}:"):
            raise ValueError("server is for an object of SQL Server")
        if self.when and self.over:
            raise ValueError("a total has no tags that depend on values")
        if strange := {metric for by in self.when.values() for metric in by} - set(self.metrics):
            raise ValueError(f"when: {min(strange)} is none of the metrics")
        # Both raise ValueError if something is wrong in them.
        _ = self.sources, self.formulas
        return self


class Exporter(StrictModel):
    """A file of rules/exporters as a whole."""

    title: Sentence = Field(description="What it is called.")
    groups: tuple[MetricGroup, ...] = Field(min_length=1)


def metric_names(measurement: str, field: str) -> tuple[str, ...]:
    """Return the names that the metric of a field may have, as VictoriaMetrics and prometheus_client write it."""
    name = f"{measurement}_{field}"
    return tuple(dict.fromkeys((name, plain_name(name))))


def plain_name(name: str) -> str:
    """Return the name with `_` for each character that Prometheus did not allow before version 3."""
    return re.sub(r"[^a-zA-Z0-9_:]", "_", name)


@cache
def exporters() -> Mapping[str, Exporter]:
    """Return the exporters by name. Raises Mistakes if a file in rules/exporters has any."""
    folder = shipped_files("rules") / "exporters"
    return {path.stem: validate(read(path.name, path.read_bytes()), Exporter) for path in sorted(folder.glob("*.yaml"))}
