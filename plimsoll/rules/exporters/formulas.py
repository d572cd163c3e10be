"""Formulas of fields: how the value of a field is computed from the metrics of an exporter.

`100 * growth(idle) / growth(user + idle)`; rules/exporters/README.md explains the functions.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

_NAN = math.nan


@dataclass(slots=True)
class Moment:
    """The values of metrics at a time (UTC ns) and at the time before, and how many instances each value sums up.

    Metrics without a value are left out. `averages` are kept from one moment to the next.
    """

    time: int
    now: Mapping[str, float]
    before: Mapping[str, float] = field(default_factory=dict[str, float])
    seconds: float = _NAN
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    averages: dict[str, tuple[int, float]] = field(default_factory=dict[str, tuple[int, float]])


_Value: TypeAlias = Callable[[Moment], float]
_OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda above, below: above / below if below else _NAN,
}


class Formula:
    """A formula. ValueError, saying what is wrong, if the text is none.

    Attributes:
        names: The metrics that it needs.
        growing: Those of which it needs the previous value as well.
        counted: Those of which it needs the number of instances.
        plain: The metric and the factor of a formula that only multiplies one metric; else None.
    """

    def __init__(self, text: str, metrics: Mapping[str, object], let: Mapping[str, str] | None = None) -> None:
        self.text = text
        self._metrics = metrics
        self._let = let or {}
        self.names: set[str] = set()
        self.growing: set[str] = set()
        self.counted: set[str] = set()
        self.tree = self._inlined(_parsed(text))
        self._value = self._compiled(self.tree, growing=False)
        self.plain = _plain(self.tree)

    def value(self, at: Moment) -> float | None:
        """Return the value at a moment; None if it cannot be computed."""
        try:
            value = self._value(at)
        except ArithmeticError:
            return None
        return value if math.isfinite(value) else None

    def _inlined(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Name) and node.id in self._let:
            return self._inlined(_parsed(self._let[node.id]))
        if isinstance(node, ast.BinOp):
            return ast.BinOp(self._inlined(node.left), node.op, self._inlined(node.right))
        if isinstance(node, ast.Call):
            return ast.Call(node.func, [self._inlined(arg) for arg in node.args], [])
        return node

    def _compiled(self, node: ast.expr, *, growing: bool) -> _Value:
        match node:
            case ast.Constant(value=int() | float() as number):
                return lambda _: float(number)
            case ast.Name(id=name) if name in self._metrics:
                self.names.add(name)
                if growing:
                    self.growing.add(name)
                return lambda at: at.now.get(name, _NAN)
            case ast.BinOp(left=left, op=op, right=right):
                above, below = self._compiled(left, growing=growing), self._compiled(right, growing=growing)
                if (operate := _OPERATIONS.get(type(op))) is None:
                    raise ValueError(f'"{self.text}": only +, -, * and / are known')
                return lambda at: operate(above(at), below(at))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._function(name, arguments)
            case _:
                raise ValueError(f'"{self.text}": "{ast.unparse(node)}" is neither a metric, a number nor a function')

    def _function(self, name: str, arguments: list[ast.expr]) -> _Value:
        match name, arguments:
            case "time", []:
                return lambda at: at.time / 1e9
            case "growth", [x]:
                return self._growth(x)
            case "rate", [x]:
                growth = self._growth(x)
                return lambda at: growth(at) / at.seconds
            case "per", [x, y]:
                above, below = self._growth(x), self._growth(y)
                # 0 where the divisor did not grow; NaN where a value is missing.
                return lambda at: above(at) / below(at) if below(at) else 0.0 * above(at)
            case "zero", [x]:
                value = self._compiled(x, growing=False)
                return lambda at: 0.0 if value(at) == 0 else _NAN
            case "count", [ast.Name(id=metric)] if metric in self._metrics:
                self.names.add(metric)
                self.counted.add(metric)
                return lambda at: float(at.counts.get(metric, 0)) or _NAN
            case "average", [x, ast.Constant(value=int() as length)]:
                value, key = self._compiled(x, growing=True), self.text
                return lambda at: _averaged(at, key, value(at), length)
            case _:
                raise ValueError(f'"{self.text}": no function {name} with {len(arguments)} values is known')

    def _growth(self, node: ast.expr) -> _Value:
        value = self._compiled(node, growing=True)

        def growth(at: Moment) -> float:
            grown = value(at) - value(Moment(at.time, at.before))
            return grown if grown >= 0 else _NAN  # a count that began anew

        return growth


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ValueError(f'"{text}" is no formula') from None


def _averaged(at: Moment, key: str, value: float, length: int) -> float:
    """Return the exponentially weighted average over `length` seconds, as the Linux kernel computes it."""
    if math.isnan(value):
        return _NAN
    before = at.averages.get(key)
    if before is None:
        average = value
    elif at.time <= before[0]:
        return before[1] if at.time == before[0] else _NAN
    else:
        kept = math.exp((before[0] - at.time) / 1e9 / length)
        average = kept * before[1] + (1 - kept) * value
    at.averages[key] = (at.time, average)
    return average


def _plain(node: ast.expr) -> tuple[str, float] | None:
    match node:
        case ast.Name(id=name):
            return name, 1.0
        case ast.BinOp(left=ast.Constant(value=int() | float() as factor), op=ast.Mult(), right=ast.Name(id=name)):
            return name, float(factor)
        case ast.BinOp(left=ast.Name(id=name), op=ast.Div(), right=ast.Constant(value=int() | float() as factor)):
            return name, 1 / float(factor)
        case _:
            return None
