"""Parses Grafana's math expressions."""

import re
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\$\{?(?P<name>\w+)\}?"
    r"|(?P<sign>\|\||&&|==|!=|>=|<=|\*\*|[-+*/%<>!()]))"
)
# Precedence levels, lowest first; all operators are left-associative.
_LEVELS = (("||",), ("&&",), ("==", "!=", ">", ">=", "<", "<="), ("+", "-"), ("*", "/", "%"), ("**",))


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator and its one or two operands."""

    sign: str
    parts: "tuple[Node, ...]"


Node: TypeAlias = float | str | Operation


@cache
def parse(expression: str) -> Node:
    """Parse an expression to a tree of numbers, refIds (`$A`) and operators. Raises ValueError if it is invalid."""
    tokens, at = [], 0
    text = expression.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            raise ValueError(f'"{expression}" cannot be read at "{text[at:]}"')
        tokens.append(found["sign"] or (f"${found['name']}" if found["name"] else found["number"]))
        at = found.end()
    node, rest = _level(tokens, 0)
    if rest:
        raise ValueError(f'"{expression}" has "{rest[0]}" where it should end')
    return node


def names(node: Node) -> set[str]:
    """Return the refIds in an expression."""
    if isinstance(node, str):
        return {node[1:]}
    return {name for part in node.parts for name in names(part)} if isinstance(node, Operation) else set()


def _level(tokens: list[str], level: int) -> tuple[Node, list[str]]:
    if level == len(_LEVELS):
        return _factor(tokens)
    node, rest = _level(tokens, level + 1)
    while rest and rest[0] in _LEVELS[level]:
        other, after = _level(rest[1:], level + 1)
        node, rest = Operation(rest[0], (node, other)), after
    return node, rest


def _factor(tokens: list[str]) -> tuple[Node, list[str]]:
    match tokens:
        case ["!" | "-" as sign, *rest]:
            node, rest = _factor(rest)
            return Operation(sign, (node,)), rest
        case ["(", *rest]:
            node, rest = _level(rest, 0)
            if not rest or rest[0] != ")":
                raise ValueError("a bracket is not closed")
            return node, rest[1:]
        case [str(token), *rest] if token[0] == "$":
            return token, rest
        case [str(token), *rest] if token[0].isdigit():
            return float(token), rest
        case _:
            raise ValueError("it ends where a value should be" if not tokens else f'"{tokens[0]}" is no value')
