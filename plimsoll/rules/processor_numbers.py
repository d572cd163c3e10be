"""Matches processor numbers of different objects: `5`, and `1,1` on a machine with four processors per node."""

import re
from collections.abc import Iterable

_IN_NODE = re.compile(r"(\d+),(\d+)")


def same_processor(instance: str, others: Iterable[str]) -> str | None:
    """The instance among `others` that is the same processor in the other notation; None if there is none."""
    among = list(others)
    if instance.isdecimal():
        return next((one for one, number in _numbers(among).items() if number == int(instance)), None)
    number = _numbers([instance]).get(instance)
    return next((one for one in among if one.isdecimal() and int(one) == number), None)


def _numbers(instances: Iterable[str]) -> dict[str, int]:
    """The overall number of each `node,processor`.

    A node's numbering starts after the highest recorded processor of the node before it. If an earlier node was not
    recorded, the processors of later ones get no number.
    """
    parts = {one: (int(match[1]), int(match[2])) for one in instances if (match := _IN_NODE.fullmatch(one))}
    sizes: dict[int, int] = {}
    for node, processor in parts.values():
        sizes[node] = max(sizes.get(node, 0), processor + 1)
    return {
        one: sum(sizes[earlier] for earlier in range(node)) + processor
        for one, (node, processor) in parts.items()
        if all(earlier in sizes for earlier in range(node))
    }
