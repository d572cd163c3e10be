"""The transformations that our table panels use, reimplemented.

Each follows Grafana's source (packages/grafana-data/src/transformations/transformers and
public/app/features/transformers). A column has a name, by which tables are merged, and may have a display name.
"""

import operator
import re
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Column:
    name: str
    kind: str
    values: tuple[Any, ...]
    labels: dict[str, str] = field(default_factory=dict)
    from_source: str | None = None  # displayNameFromDS
    given: str | None = None  # config.displayName

    @property
    def shown(self):
        return self.given or self.from_source or self.name


@dataclass(frozen=True)
class Frame:
    ref_id: str
    columns: tuple[Column, ...]
    name: str = ""

    @property
    def rows(self):
        return len(self.columns[0].values) if self.columns else 0


@dataclass(frozen=True)
class Trend:
    """A series as the value of a cell."""

    line: tuple[Any, ...]


def shown(panel, frames):
    """Return the headings and the rows of a table panel over these answers."""
    for step in panel.get("transformations", ()):
        matches = _regex(step["filter"]["options"]).search if "filter" in step else lambda _: True
        apart = [one for one in frames if not matches(one.ref_id)]
        frames = _STEPS[step["id"]]([one for one in frames if matches(one.ref_id)], step["options"]) + apart
    (frame,) = frames
    return [one.shown for one in frame.columns], [*zip(*(one.values for one in frame.columns), strict=True)]


def line(ref_id, alias, labels, values, step=10_000):
    """Return a series as the plugin does: one frame with a column `Value`, whose display name is the alias."""
    times = tuple(step * at for at in range(len(values)))
    columns = (Column("Time", "time", times), Column("Value", "number", tuple(values), labels, alias))
    return Frame(ref_id, columns, alias)


def table(ref_id, columns):
    """Return a table as the plugin does: without display names."""
    kinds = {"Time": "time"}
    made = (Column(name, kinds.get(name, "string"), tuple(values), {}, name) for name, values in columns.items())
    return Frame(ref_id, tuple(made))


def _regex(text):
    found = re.fullmatch(r"/(.*)/g?", text)
    return re.compile(re.sub(r"\(\?<(?=\w)", "(?P<", found[1] if found else f"^{text}$"))


def _reduce(frames, options):
    """Reduce. The column `Field` has display names only if labels are not columns."""
    keep = options.get("labelsToFields")
    labels = list(dict.fromkeys(label for one in frames for column in one.columns for label in column.labels))
    names = {"lastNotNull": "Last *", "max": "Max"}
    rows = []
    for column in (column for one in frames for column in one.columns if column.kind != "time"):
        numbers = [value for value in column.values if value is not None]
        reduced = {"lastNotNull": numbers[-1], "max": max(numbers)}
        told = [column.name, *(column.labels.get(label) for label in labels)] if keep else [column.shown]
        rows.append([*told, *(reduced[name] for name in options["reducers"])])
    heads = ["Field", *(labels if keep else ()), *(names[name] for name in options["reducers"])]
    return [Frame("", _columns(heads, rows))]


def _extract_fields(frames, options):
    (frame,) = frames
    source = next(one for one in frame.columns if one.shown == options["source"])
    found = [match.groupdict() if (match := _regex(options["regExp"]).search(text)) else {} for text in source.values]
    names = list(dict.fromkeys(name for one in found for name in one))
    return [replace(frame, columns=frame.columns + _columns(names, [[one.get(name) for name in names] for one in found]))]  # fmt: skip


def _calculate_field(frames, options):
    (frame,) = frames
    binary = options["binary"]
    by_name = {one.shown: one.values for one in frame.columns}
    left, right = (by_name.get(binary[side]) or (float(binary[side]),) * frame.rows for side in ("left", "right"))
    operate = {"+": operator.add, "*": operator.mul}[binary["operator"]]
    made = Column(options["alias"], "number", tuple(map(operate, left, right)))
    return [replace(frame, columns=(*frame.columns, made))]


def _organize(frames, options):
    def one(frame):
        kept = [column for column in frame.columns if not options["excludeByName"].get(column.shown)]
        kept.sort(key=lambda column: options["indexByName"].get(column.shown, len(kept) + 1))
        return replace(frame, columns=tuple(replace(it, given=options["renameByName"].get(it.shown, it.given)) for it in kept))  # fmt: skip

    return [one(frame) for frame in frames]


def _rename_by_regex(frames, options):
    regex = _regex(options["regex"])

    def renamed(column):
        found = regex.search(column.shown)
        if not found:
            return column
        given = re.sub(r"\$(\d)", lambda group: found[int(group[1])] or "", options["renamePattern"])
        return replace(column, given=column.shown[: found.start()] + given + column.shown[found.end() :])

    return [replace(one, columns=tuple(map(renamed, one.columns))) for one in frames]


def _time_series_table(frames, options):
    made = []
    for ref_id in dict.fromkeys(one.ref_id for one in frames):
        lines = [column for one in frames if one.ref_id == ref_id for column in one.columns if column.kind == "number"]
        labels = list(dict.fromkeys(label for column in lines for label in column.labels))
        rows = [[*(one.labels.get(label, "") for label in labels), Trend(one.values)] for one in lines]
        made.append(Frame(ref_id, _columns([*labels, f"Trend #{ref_id}"], rows)))
    return made


def _merge(frames, options):
    """Merge tables by the names of columns. Display names are lost."""
    if len(frames) < 2:
        return frames
    names = list(dict.fromkeys(column.name for one in frames for column in one.columns))
    keys = [name for name in names if all(any(column.name == name for column in one.columns) for one in frames)]
    merged: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in frames:
        for at in range(one.rows):
            row = {column.name: column.values[at] for column in one.columns}
            rows = merged.setdefault(tuple(row[key] for key in keys), [])
            fitting = [it for it in rows if all(it.get(name) in (None, value) for name, value in row.items())]
            for it in fitting:
                it.update(row)
            if not fitting:
                rows.append(row)
    rows = [[row.get(name) for name in names] for found in merged.values() for row in found]
    return [Frame("merge", _columns(names, rows))]


_AGGREGATE = {"max": max, "firstNotNull": lambda values: next(iter(values), None)}


def _group_by(frames, options):
    made = []
    for one in frames:
        fields = {column.shown: options["fields"].get(column.shown, {}) for column in one.columns}
        keys = [it for it in one.columns if fields[it.shown].get("operation") == "groupby"]
        values = [it for it in one.columns if fields[it.shown].get("operation") == "aggregate"]
        groups: dict[tuple[Any, ...], list[int]] = {}
        for at in range(one.rows):
            groups.setdefault(tuple(it.values[at] for it in keys), []).append(at)
        (kind,) = {kind for it in values for kind in fields[it.shown]["aggregations"]}
        rows = [
            [*key, *(_AGGREGATE[kind]([it.values[at] for at in ats if it.values[at] is not None]) for it in values)]
            for key, ats in groups.items()
        ]
        heads = [*(it.name for it in keys), *(f"{it.shown} ({kind})" for it in values)]
        made.append(Frame("", _columns(heads, rows)))
    return made


def _convert_field_type(frames, options):
    kinds = {one["targetField"]: one["destinationType"] for one in options["conversions"]}

    def one(column):
        kind = kinds.get(column.shown, column.kind)
        values = tuple(map(float, column.values)) if column.shown in kinds and kind == "number" else column.values
        return replace(column, kind=kind, values=values)

    return [replace(frame, columns=tuple(map(one, frame.columns))) for frame in frames]


def _grouping_to_matrix(frames, options):
    (frame,) = frames
    by_name = {one.shown: one.values for one in frame.columns}
    heads, rows, values = (by_name[options[name]] for name in ("columnField", "rowField", "valueField"))
    cells = dict(zip(zip(rows, heads, strict=True), values, strict=True))
    first = f"{options['rowField']}\\{options['columnField']}"
    columns = list(dict.fromkeys(heads))
    table = [[row, *(cells.get((row, head)) for head in columns)] for row in dict.fromkeys(rows)]
    return [Frame("", _columns([first, *columns], table))]


def _columns(names, rows):
    return tuple(Column(name, "string", tuple(row[at] for row in rows)) for at, name in enumerate(names))


_STEPS = {
    "reduce": _reduce,
    "extractFields": _extract_fields,
    "calculateField": _calculate_field,
    "organize": _organize,
    "renameByRegex": _rename_by_regex,
    "timeSeriesTable": _time_series_table,
    "merge": _merge,
    "groupBy": _group_by,
    "groupingToMatrix": _grouping_to_matrix,
    "convertFieldType": _convert_field_type,
}
