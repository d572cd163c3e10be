"""Matches processor numbers of different objects: `5`, and `1,1` on a machine with four processors per node."""

import re
from collections.abc import Iterable

# More digits than any machine needs would only make a number that takes long to compute with.
_IN_NODE = re.compile(r"(\d{1,4}),(\d{1,6})")
_NUMBER = re.compile(r"\d{1,9}")


class Processors:
    """The names of a machine's processors, found by the number that another notation gives them."""

    def __init__(self) -> None:
        self._plain: dict[int, dict[str, None]] = {}
        self._in_node: dict[int, dict[int, dict[str, None]]] = {}
        self._size: dict[int, int] = {}  # of each node: one more than its highest processor

    def add(self, name: str) -> None:
        """Add a name; one that is no number of a processor does not count."""
        if _NUMBER.fullmatch(name):
            self._plain.setdefault(int(name), {})[name] = None
        elif match := _IN_NODE.fullmatch(name):
            node, processor = int(match[1]), int(match[2])
            self._in_node.setdefault(node, {}).setdefault(processor, {})[name] = None
            self._size[node] = max(self._size.get(node, 0), processor + 1)

    def remove(self, name: str) -> None:
        """Take a name out again."""
        if _NUMBER.fullmatch(name):
            self._plain.get(int(name), {}).pop(name, None)
        elif match := _IN_NODE.fullmatch(name):
            node, processor = int(match[1]), int(match[2])
            there = self._in_node.get(node, {})
            there.get(processor, {}).pop(name, None)
            if not there.get(processor):
                there.pop(processor, None)
            self._size[node] = max(there, default=-1) + 1

    def same(self, instance: str) -> str | None:
        """The same processor in the other notation; None if there is none.

        A node's numbering starts after the highest recorded processor of the node before it. If an earlier node was
        not recorded, the processors of later ones have no number.
        """
        if match := _IN_NODE.fullmatch(instance):
            # By itself, only a processor of the first node has a number.
            return None if int(match[1]) else next(iter(self._plain.get(int(match[2]), ())), None)
        left = int(instance) if _NUMBER.fullmatch(instance) else -1
        node = 0
        while left >= 0 and (size := self._size.get(node, 0)):
            if left < size:
                return next(iter(self._in_node[node].get(left, ())), None)
            left, node = left - size, node + 1
        return None


def same_processor(instance: str, others: Iterable[str]) -> str | None:
    """The instance among `others` that is the same processor in the other notation; None if there is none."""
    found = Processors()
    for one in others:
        found.add(one)
    return found.same(instance)
