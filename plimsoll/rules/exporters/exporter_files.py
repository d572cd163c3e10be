"""The content of rules/exporters/*.yaml, with its formulas. Field names here are the names in the files."""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import count
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from plimsoll.model import names
from plimsoll.model.file_models import FieldBounds, FieldParser, entry, file_model
from plimsoll.model.log import Values
from plimsoll.model.perfmon import SQL_DEFAULT, SQL_NAMED, CounterPath
from plimsoll.model.series import Series
from plimsoll.model.shipped_tables import find_shipped_files
from plimsoll.model.strict_yaml import read, validate
from plimsoll.rules.schema.field_types import Sentence

_NAN = math.nan
Averages: TypeAlias = dict[str, tuple[int, int, float]]  # since when (UTC ns), until when, and the average


@dataclass(slots=True)
class Moment:
    """The values of metrics that formulas read: `now` at `time` (UTC ns), `before` at the time `seconds` earlier.

    Metrics without a value are absent. `counts` has the number of instances added up in each value, `averages` the
    moving averages, passed from one moment to the next. Formulas with `columns` read arrays in place of numbers: many
    times, and the values at each time; NaN for a missing value.
    """

    time: Any
    now: Mapping[str, Any]
    before: Mapping[str, Any] = field(default_factory=dict[str, Any])
    seconds: Any = _NAN
    counts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    averages: Averages = field(default_factory=dict[str, tuple[int, int, float]])


_Value: TypeAlias = Callable[[Moment], Any]
_OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


class Formula:
    """A formula over metrics, compiled from its text. Raise ValueError if the text is not a valid formula.

    Attributes:
        names: The metrics that the formula needs.
        growing: The metrics of which the formula needs the previous value, too.
        counted: The metrics of which the formula needs the number of instances.
        plain: The metric and the factor, if the formula only multiplies one metric; else None.

    If the formula has `columns`, call `values` for many times at once; else call `value` for each time.
    """

    def __init__(
        self, text: str, metrics: Mapping[str, object], let: Mapping[str, str] | None = None, *, columns: bool = False
    ) -> None:
        self.text = text
        self._choose: Callable[[Any, Any, Any], Any] = np.where if columns else _choose_value
        self._metrics = metrics
        self._let = let or {}
        self.names: set[str] = set()
        self.growing: set[str] = set()
        self.counted: set[str] = set()
        self.tree = self._inline_node(_parse_expression(text))
        self._value = self._compile_node(self.tree, growing=False)
        self.plain = _simplify(self.tree)

    def value(self, at: Moment) -> float | None:
        """Return the formula's value at a moment; None if a metric is missing or the result is not finite."""
        try:
            value = self._value(at)
        except ArithmeticError:
            return None
        return value if math.isfinite(value) else None

    def values(self, at: Moment) -> Values:
        """Return the formula's value at each of many times; NaN where a metric is missing or the result infinite."""
        with np.errstate(all="ignore"):
            values = np.broadcast_to(self._value(at), len(at.time))
        return np.where(np.isfinite(values), values, _NAN)

    def _inline_node(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Name) and node.id in self._let:
            return self._inline_node(_parse_expression(self._let[node.id]))
        if isinstance(node, ast.BinOp):
            return ast.BinOp(self._inline_node(node.left), node.op, self._inline_node(node.right))
        if isinstance(node, ast.Call):
            return ast.Call(node.func, [self._inline_node(arg) for arg in node.args], [])
        return node

    def _compile_node(self, node: ast.expr, *, growing: bool) -> _Value:
        """Return a function that computes a node; `growing` means that previous values of metrics are needed, too."""
        match node:
            case ast.Constant(value=int() | float() as number):
                return lambda _: float(number)
            case ast.Name(id=name) if name in self._metrics:
                self.names.add(name)
                if growing:
                    self.growing.add(name)
                return lambda at: at.now.get(name, _NAN)
            case ast.BinOp(left=left, op=op, right=right):
                above, below = self._compile_node(left, growing=growing), self._compile_node(right, growing=growing)
                if isinstance(op, ast.Div):
                    return self._compile_quotient(above, below, lambda _: _NAN)
                if (operate := _OPERATIONS.get(type(op))) is None:
                    raise ValueError(f'"{self.text}": only +, -, * and / are known')
                return lambda at: operate(above(at), below(at))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._compile_function(name, arguments)
            case _:
                raise ValueError(f'"{self.text}": "{ast.unparse(node)}" is neither a metric, a number nor a function')

    def _compile_function(self, name: str, arguments: list[ast.expr]) -> _Value:
        """Return a function that computes a function call of the formula, such as `rate(x)`."""
        match name, arguments:
            case "time", []:
                return lambda at: at.time / 1e9
            case "growth", [x]:
                return self._compile_growth(x)
            case "rate", [x]:
                growth = self._compile_growth(x)
                return lambda at: growth(at) / at.seconds
            case "per", [x, y]:
                above, below = self._compile_growth(x), self._compile_growth(y)
                # 0 where the divisor did not grow; NaN where a value is missing.
                return self._compile_quotient(above, below, lambda value: 0.0 * value)
            case "zero", [x]:
                value = self._compile_node(x, growing=False)
                return lambda at: self._choose(value(at) == 0, 0.0, _NAN)
            case "count", [ast.Name(id=metric)] if metric in self._metrics:
                self.names.add(metric)
                self.counted.add(metric)
                return lambda at: 1.0 * at.counts.get(metric, _NAN)
            case "average", [x, ast.Constant(value=int() as length)]:
                value, key = self._compile_node(x, growing=True), self.text
                return lambda at: _average(at, key, value(at), length)
            case _:
                raise ValueError(f'"{self.text}": no function {name} with {len(arguments)} values is known')

    def _compile_growth(self, node: ast.expr) -> _Value:
        value = self._compile_node(node, growing=True)

        def growth(at: Moment) -> float:
            grown = value(at) - value(Moment(at.time, at.before))
            return self._choose(grown >= 0, grown, _NAN)  # a counter that was reset

        return growth

    def _compile_quotient(self, above: _Value, below: _Value, otherwise: Callable[[Any], Any]) -> _Value:
        """Return a function that divides `above` by `below`, or gives `otherwise(dividend)` where the divisor is 0."""

        def quotient(at: Moment) -> Any:
            dividend, divisor = above(at), below(at)
            return self._choose(divisor != 0, dividend / self._choose(divisor != 0, divisor, _NAN), otherwise(dividend))

        return quotient


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
        """Return the metric of a text such as `name{label="value"}`. Raise ValueError for any other form."""
        match = _SELECTOR.fullmatch(text)
        labels = tuple(_LABEL.findall(match["labels"])) if match and match["labels"] else ()
        if match is None or (match["labels"] and not labels):
            raise ValueError(f'"{text}" is no metric; write it like name{{label="value"}}')
        return cls(match["name"], labels)


def add_translated_names(metrics: Sequence[Metric]) -> tuple[Metric, ...]:
    """Return the metrics, and OpenTelemetry metrics also under the names of each of Prometheus' translation strategies.

    NoTranslation gives `system.cpu.time`, UnderscoreEscapingWithSuffixes `system_cpu_time_seconds_total`; the other two
    strategies give `system_cpu_time` and `system.cpu.time_seconds_total` (otlptranslator 1.0.0).
    """
    translated = dict.fromkeys(metrics)
    for metric in metrics:
        if "." not in metric.name:
            continue
        escaped = metric.name.replace(".", "_")
        translated[metric._replace(name=escaped)] = None
        for other in metrics:
            if other.name.startswith(f"{escaped}_"):
                translated[metric._replace(name=metric.name + other.name.removeprefix(escaped))] = None
    return tuple(translated)


class Template:
    """A text with labels in braces, such as `cpu{cpu}`; `{device-/dev/}` is the label's value without `/dev/`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.labels = tuple(match["label"] for match in _PART.finditer(text))

    @property
    def pattern(self) -> str:
        """A regular expression that matches the label values joined by `;` and captures each without its prefix."""
        prefixes = (part["prefix"] or "" for part in _PART.finditer(self._text))
        return ";".join(f"(?:{re.escape(prefix)})?(.*)" if prefix else "(.*)" for prefix in prefixes)

    @property
    def replacement(self) -> str:
        """The template's text with `pattern`'s groups in place of the labels: `${1}:${2}`."""
        numbers = count(1)
        return _PART.sub(lambda _: f"${{{next(numbers)}}}", self._text)

    def filled(self, labels: dict[str, str]) -> str:
        """Return the text with the labels of a series filled in. Raise KeyError if the series lacks a label."""
        return _PART.sub(lambda part: labels[part["label"]].removeprefix(part["prefix"] or ""), self._text)


def _convert_to_texts(value: object) -> object:
    """Return a value, or each value of a list, as text in a tuple; YAML reads some names as numbers or booleans."""
    return tuple(str(text) for text in value) if isinstance(value, list | tuple) else (str(value),)


_Texts = Annotated[tuple[str, ...], FieldBounds(min_length=1), FieldParser(_convert_to_texts)]


@file_model
class MetricGroup:
    """The metrics of one Telegraf measurement or one Perfmon object, and the fields computed from them."""

    measurement: str | None = entry(default=None, description="Telegraf's measurement.")
    object: str | None = entry(default=None, description="The Perfmon object, in place of a measurement.")
    server: str | None = entry(
        default=None, description="For objects of SQL Server: the label that names the instance of SQL Server."
    )
    instance: str | None = entry(default=None, description="The instance of the object, with labels in braces.")
    tags: dict[str, str] = entry(default_factory=dict, description="Telegraf's tags, with labels in braces.")
    when: dict[str, dict[str, dict[int, str]]] = entry(
        default_factory=dict,
        description="Tags whose value depends on that of a metric: tag, metric, and the tag for each value.",
    )
    over: tuple[str, ...] = entry(
        default=(), description="Labels over whose values the metrics are added up: the group is a total."
    )
    but: dict[str, tuple[str, ...]] = entry(
        default_factory=dict, description="Series to leave out: patterns of the values of labels."
    )
    metrics: dict[str, _Texts] = entry(
        min_length=1,
        description="The metrics, by their names in formulas; of several metrics under one name, the first that is "
        "sent is used.",
    )
    let: dict[str, str] = entry(default_factory=dict, description="Names for parts of formulas.")
    fields: dict[str, _Texts] = entry(
        min_length=1,
        description="Fields, or counters of the object, as formulas; of several, the first that can be computed is "
        "used.",
    )

    @cached_property
    def sources(self) -> dict[str, tuple[Metric, ...]]:
        """The metrics by name in formulas; OpenTelemetry metrics under every name that Prometheus may give them."""
        return {name: add_translated_names([*map(Metric.parse, several)]) for name, several in self.metrics.items()}

    @cached_property
    def formulas(self) -> dict[str, tuple[Formula, ...]]:
        """The formulas of each field, in order of preference."""
        return {
            name: tuple(Formula(text, self.metrics, self.let) for text in several)
            for name, several in self.fields.items()
        }

    @cached_property
    def column_formulas(self) -> dict[str, tuple[Formula, ...]]:
        """The formulas of each field, compiled to be computed for many times at once."""
        return {
            name: tuple(Formula(formula.text, self.metrics, self.let, columns=True) for formula in several)
            for name, several in self.formulas.items()
        }

    @cached_property
    def templates(self) -> dict[str, Template]:
        """The templates of tag values by tag name; under an empty name, the template of the Perfmon instance."""
        instance = {"": Template(self.instance)} if self.instance else {}
        return {name: Template(text) for name, text in self.tags.items()} | instance

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that distinguish the instances of the group."""
        labels = [label for template in self.templates.values() for label in template.labels]
        return tuple(dict.fromkeys([*labels, *([self.server] if self.server else [])]))

    def series(self, host: str, labels: dict[str, str], field: str, chosen: dict[str, str]) -> Series:
        """Return the series of a field for a host and an instance's labels. Raise KeyError if a label is missing.

        `chosen` contains the tags that depend on values of metrics.
        """
        filled = {name: template.filled(labels) for name, template in self.templates.items()}
        if self.object is not None:
            object_ = self.object
            if self.server and labels[self.server] != DEFAULT_SERVER:
                object_ = f"{SQL_NAMED}{labels[self.server]}:{self.object.partition(':')[2]}"
            return names.load_shipped().series(CounterPath(None, object_, filled.get(""), field), host)
        tags = tuple(sorted({**filled, **chosen}.items()))
        return Series(host, self.measurement or "", tags, field)

    def __post_init__(self) -> None:
        """Return the group. Raise ValueError, saying what is wrong, if its fields contradict each other."""
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
        # Both raise ValueError if their texts are invalid.
        _ = self.sources, self.formulas


@file_model
class Exporter:
    """The contents of one file in rules/exporters."""

    title: Sentence = entry(description="The name of the exporter.")
    groups: tuple[MetricGroup, ...] = entry(min_length=1)


def list_metric_names(measurement: str, field: str) -> tuple[str, ...]:
    """Return the metric names under which Telegraf's prometheus_client or VictoriaMetrics may expose a field.

    In Telegraf 1.37.2, `metric_version = 1` names a field `value` by its measurement alone; version 2 removes leading
    and trailing underscores of names with replaced characters.
    """
    name = f"{measurement}_{field}"
    plain = make_plain_name(name)
    names = [name, plain] if name == plain else [name, plain, plain.strip("_")]
    return tuple(dict.fromkeys(names if field != "value" else [*names, make_plain_name(measurement)]))


def make_plain_name(name: str) -> str:
    """Return a name with `_` for each character that Prometheus before version 3 did not allow."""
    return re.sub(r"[^a-zA-Z0-9_:]", "_", name)


@cache
def load_exporters() -> Mapping[str, Exporter]:
    """Return the exporters by name. Raise Mistakes if a file in rules/exporters is wrong."""
    folder = find_shipped_files("rules") / "exporters"
    return {path.stem: validate(read(path.name, path.read_bytes()), Exporter) for path in sorted(folder.glob("*.yaml"))}


def _choose_value(condition: bool, yes: float, no: float) -> float:
    return yes if condition else no


def _parse_expression(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ValueError(f'"{text}" is no formula') from None


def _average(at: Moment, key: str, value: Any, length: int) -> Any:
    """Return the exponentially weighted average of a share (%) over `length` seconds, as the Linux kernel computes it.

    It is NaN until shares of `length` seconds are known, with whose plain mean it begins: the kernel's average has a
    past that is not known here. It is at most 100, although a share can be higher where samples are taken a little
    early or late.
    """
    if isinstance(value, np.ndarray):
        rows = zip(at.time.tolist(), value.tolist(), at.seconds.tolist(), strict=True)
        return np.array([_update_average(at.averages, key, length, *row) for row in rows])
    return _update_average(at.averages, key, length, at.time, value, at.seconds)


def _update_average(averages: Averages, key: str, length: int, time: int, value: float, seconds: float) -> float:
    if math.isnan(value):
        return _NAN
    begin, then, average = averages.get(key, (time - round(seconds * 1e9), time, value))
    if time < then:
        return _NAN
    if time > then:
        weight = max(1 - math.exp((then - time) / 1e9 / length), (time - then) / (time - begin))
        average += weight * (value - average)
    averages[key] = begin, time, average
    return min(average, 100.0) if time - begin >= length * 1e9 else _NAN


def _simplify(node: ast.expr) -> tuple[str, float] | None:
    match node:
        case ast.Name(id=name):
            return name, 1.0
        case ast.BinOp(left=ast.Constant(value=int() | float() as factor), op=ast.Mult(), right=ast.Name(id=name)):
            return name, float(factor)
        case ast.BinOp(left=ast.Name(id=name), op=ast.Div(), right=ast.Constant(value=int() | float() as factor)):
            return name, 1 / float(factor)
        case _:
            return None
