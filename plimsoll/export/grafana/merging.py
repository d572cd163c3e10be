"""Merges the variants of a signal that one query can select."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from plimsoll.export.grafana.selections import OBJECT, POLLED, Selection, Variant


def merged(ways: Sequence[Variant]) -> Iterator[Variant]:
    """Yield the variants of a signal, in order, with those that one query can select merged into one.

    Grafana must not get two series with the same labels. InfluxDB combines those of one measurement; those of two
    are merged only if their tags differ. Derived variants are not merged.
    """
    together: list[list[Selection]] = []
    for way in ways:
        if way.operation is None:
            (own,) = way.selections
            home = next((some for some in together if all(_tell_apart(own, other) for other in some)), None)
            if home is None:
                together.append([own])
            else:
                home.append(own)
    for some in together:
        yield Variant(some[0].signal, None, tuple(some if len(some) == 1 else map(_labelled, some)))
    yield from (way for way in ways if way.operation is not None)


def _labelled(selection: Selection) -> Selection:
    """Return the selection, grouped also by the tags in its conditions."""
    return replace(selection, group=tuple(dict.fromkeys((*selection.group, *_picked(selection)))))


def _picked(selection: Selection) -> tuple[str, ...]:
    return (OBJECT,) if selection.source.path else tuple(selection.source.tags)


def _tell_apart(one: Selection, other: Selection) -> bool:
    """Whether two selections never give different series with the same labels."""
    if one.measurement == other.measurement:
        return one.group == other.group
    mine, others = {*one.group, *_picked(one)}, {*other.group, *_picked(other)}
    if one.source.path and other.source.path:
        return one.source.path.object != other.source.path.object
    return bool(mine - others - {POLLED} or others - mine - {POLLED})
