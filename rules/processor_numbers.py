"""Processors as different objects number them: `5`, and `1,1` of a machine whose nodes have four processors each."""

import re
from collections.abc import Iterable

_IN_NODE = re.compile(r"(\d+),(\d+)")


def same_processor(instance: str, others: Iterable[str]) -> str | None:
    """Which of the other instances is the same processor written in the other way; None if none can be told to be."""
    among = list(others)
    if instance.isdecimal():
        return next((one for one, number in _numbers(among).items() if number == int(instance)), None)
    number = _numbers([instance]).get(instance)
    return next((one for one in among if one.isdecimal() and int(one) == number), None)


def _numbers(instances: Iterable[str]) -> dict[str, int]:
    """Each `node,processor` as the number it has if all processors are counted through.

    Those of a node are matched only where nodes before it are recorded to their last processor: every node is taken to
    begin where the highest processor of the one before it ends.
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
