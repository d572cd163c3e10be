"""Loads YAML within limits of size and depth."""

from typing import Any

import yaml
from yaml.composer import Composer

MOST_LEVELS = 50
MOST_DIGITS = 300
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


class Oversize(yaml.MarkedYAMLError):
    """The error that a text exceeds a limit: `problem` names the limit, `problem_mark` is where it happens."""


class Loader(Composer, yaml.CSafeLoader):
    """Composes nodes from the parser's events, and stops at the first node beyond a limit.

    This is Python's Composer with the C parser: the C composer cannot be stopped, and crashes on deep nesting.
    """

    def __init__(self, text: str | bytes, most_values: int) -> None:
        yaml.CSafeLoader.__init__(self, text)
        Composer.__init__(self)
        self._most_values = most_values
        self._values = 0
        self._levels: list[int] = []  # of each node that is being composed: the levels found below it
        self._sizes: dict[str, tuple[int, int]] = {}  # of each anchor: its values and levels

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Return the next node. Each use of an alias counts as all values that it stands for."""
        event: Any = self.peek_event()
        anchor = getattr(event, "anchor", None)
        if isinstance(event, yaml.AliasEvent):
            values, levels = self._sizes.get(event.anchor, (1, 1))
            if event.anchor in self.anchors and event.anchor not in self._sizes:
                raise Oversize(None, None, f"a part of it holds itself, by the alias *{event.anchor}", event.start_mark)
            self._count(event, values, levels)
            return super().compose_node(parent, index)
        self._count(event, 1, 1)
        before = self._values
        self._levels.append(0)
        node = super().compose_node(parent, index)
        levels = self._levels.pop() + 1
        if self._levels:
            self._levels[-1] = max(self._levels[-1], levels)
        if anchor is not None:
            self._sizes[anchor] = (self._values - before + 1, levels)
        if isinstance(node, yaml.ScalarNode) and node.tag in _NUMBERS and len(node.value) > MOST_DIGITS:
            raise Oversize(
                None, None, f"a number of more than {MOST_DIGITS} digits; write it shorter", event.start_mark
            )
        return node

    def _count(self, event: Any, values: int, levels: int) -> None:
        self._values += values
        if len(self._levels) + levels > MOST_LEVELS:
            raise Oversize(None, None, f"nested too deeply: more than {MOST_LEVELS} levels", event.start_mark)
        if self._values > self._most_values:
            text = f"more than {self._most_values:,} values, counting an alias as all it stands for; split the file"
            raise Oversize(None, None, text, event.start_mark)
        if isinstance(event, yaml.AliasEvent) and self._levels:
            self._levels[-1] = max(self._levels[-1], levels)
