"""Lines that Grafana computes from several queries, and their names.

InfluxDB does not divide, as a division by 0 is 0 there, nor combine values of different measurements.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.export.grafana.sdk import dashboard
from plimsoll.export.selections import OBJECT, POLLED, Variant


@dataclass(frozen=True)
class Computed:
    """Computed lines: the refId of their expression, the tags that name them, and what is added to their names."""

    ref_id: str
    tags: tuple[str, ...]
    suffix: str


def groups(ways: Sequence[Variant]) -> Iterator[tuple[list[Variant], str]]:
    """Yield the variants that differ only in the fields of their operands, with what is added to their lines' names.

    A host has lines of several groups if it records several objects. All but the best are named by their objects.
    """
    found: dict[tuple[str, ...], list[Variant]] = {}
    for way in ways:
        found.setdefault(tuple(one.kind for one in way.selections), []).append(way)
    seen: set[str | None] = set()
    for kinds, alike in found.items():
        collector = alike[0].selections[0].collector
        yield alike, f" ({', '.join(dict.fromkeys(kinds))})" if collector in seen else ""
        seen.add(collector)


def operands(alike: Sequence[Variant]) -> Iterator[list[Variant]]:
    """Yield the sources of each operand of a group, the best first."""
    for ones in zip(*(way.selections for way in alike), strict=True):
        yield [Variant(one.signal, None, (one,)) for at, one in enumerate(ones) if one not in ones[:at]]


def naming_tags(way: Variant) -> tuple[str, ...]:
    """Return the tags that name the lines of a variant: the host, the object and the instance."""
    one = max(way.selections, key=lambda selection: len(selection.group))
    host = POLLED if POLLED in one.group else one.host
    return tuple(filter(None, (host, OBJECT if OBJECT in one.group else None, one.instance)))


def renamed(lines: Iterable[Computed]) -> list[dashboard.DataTransformerConfig]:
    """Return the transformations that name computed lines, which Grafana calls by their refId and all their labels."""
    alike: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for one in lines:
        alike.setdefault((one.tags, one.suffix), []).append(one.ref_id)
    return [_rename(ref_ids, tags, suffix) for (tags, suffix), ref_ids in alike.items()]


def _rename(ref_ids: Sequence[str], tags: Sequence[str], suffix: str) -> dashboard.DataTransformerConfig:
    pattern = " ".join(f"${at}" for at in range(1, len(tags) + 1)) + suffix
    return dashboard.DataTransformerConfig(
        "renameByRegex", options={"regex": _regex(ref_ids, tags), "renamePattern": pattern}
    )


def _regex(ref_ids: Sequence[str], tags: Sequence[str]) -> str:
    begin = f"^(?:{'|'.join(ref_ids)}) "
    if len(tags) == 1:
        # A line with one label is called by its value: `K WEB01`, not `K {host="WEB01"}`.
        return rf'/{begin}(?:\{{.*\b{tags[0]}=")?([^"]*).*/'
    return f"/{begin}" + "".join(rf'(?=.*\b{tag}="([^"]*)")' for tag in tags) + ".*/"
