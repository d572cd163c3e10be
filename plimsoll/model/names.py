"""Converts counter paths to series, which have the same names whichever program recorded them.

`perfmon.yaml` has the measurement of each object, and the canonical case of object and counter names, because recorders
differ in case (Export-Counter writes lower case). `languages/*.yaml` have the names in other languages; series have
English names.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from plimsoll.model.counter_names.name_clues import Language, WindowsObject, fold_name, load_languages, load_objects
from plimsoll.model.perfmon import SQL_NAMED, TOTAL, CounterPath, make_telegraf_name, split_object
from plimsoll.model.series import Series

UNKNOWN = "win_perf_counters"
_TOTAL = TOTAL.casefold()


class _Name(NamedTuple):
    """The names of a counter: object and counter for display, and the measurement and field of its series."""

    shown_object: str
    shown_counter: str
    object: str
    measurement: str
    field: str


class Names:
    """The names of objects and counters, shipped and in the user's `paths`. Raise Unusable if a file has mistakes."""

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        self._user_languages: Sequence[Language] = ()
        if paths:
            from plimsoll.model.counter_names.own_names import load_own_language  # noqa: PLC0415  few have such files

            self._user_languages = [load_own_language(path) for path in paths]
        self._names: dict[tuple[str, str], _Name] = {}

    def series(self, path: CounterPath, host: str) -> Series:
        """Return the series of a counter of `host`, by English names; its `path` keeps the recorded language."""
        name = self._names.get((path.object, path.counter)) or self._find(path.object, path.counter)
        instance = path.instance
        if instance is None:
            tags = (("objectname", name.object), ("source", host))
            shown = f"\\{name.shown_object}\\{name.shown_counter}"
            return Series(host, name.measurement, tags, name.field, shown)
        if instance.casefold() == _TOTAL or instance.casefold().endswith(f",{_TOTAL}"):
            instance = instance[: -len(TOTAL)] + TOTAL
        tags = (("instance", instance), ("objectname", name.object), ("source", host))
        shown = f"\\{name.shown_object}({instance})\\{name.shown_counter}"
        return Series(host, name.measurement, tags, name.field, shown)

    def _find(self, object_: str, counter: str) -> _Name:
        """Return the names of a counter; object and counter may be in any shipped or user's language."""
        generic, named = split_object(object_)
        in_english = load_objects().get(fold_name(generic))
        windows_object = in_english or self._translate_object(generic)
        if windows_object is None:
            name = _Name(object_, counter, object_, UNKNOWN, make_telegraf_name(counter))
        else:
            english = f"{SQL_NAMED}{named}:{windows_object.name.partition(':')[2]}" if named else windows_object.name
            counter_name = windows_object.counters.get(fold_name(counter))
            translations = (
                language.counters.get(windows_object.name, {}).get(fold_name(counter))
                for language in (*self._user_languages, *load_languages())
            )
            translated = counter_name or next(filter(None, translations), counter)
            name = _Name(
                english if in_english else object_,
                counter_name or counter,
                english,
                windows_object.measurement,
                make_telegraf_name(translated),
            )
        self._names[object_, counter] = name
        return name

    def _translate_object(self, object_: str) -> WindowsObject | None:
        for language in (*self._user_languages, *load_languages()):
            if (english := language.objects.get(fold_name(object_))) is not None:
                return load_objects().get(fold_name(english))
        return None


@cache
def load_shipped() -> Names:
    """Return the counter names that Plimsoll ships, without those that a user's file adds."""
    return Names()


def find_measurement(object_: str) -> str:
    """Return the measurement of the object that has this English name."""
    windows_object = load_objects().get(fold_name(split_object(object_)[0]))
    return windows_object.measurement if windows_object else UNKNOWN


def list_measurements() -> frozenset[str]:
    """Return the measurements of all known objects, and the measurement that all other objects share."""
    return frozenset([UNKNOWN, *(windows_object.measurement for windows_object in load_objects().values())])


def format_path(series: Series) -> str:
    """Return the name to display for a series not from a log: a counter path, else `cpu(cpu-total) usage_idle`."""
    object_ = series.tag("objectname")
    if object_ is None:
        instances = ", ".join(value for _, value in series.tags)
        return f"{series.measurement}{f'({instances})' if instances else ''} {series.field}"
    windows_object = load_objects().get(fold_name(split_object(object_)[0]))
    names = (
        {make_telegraf_name(counter): counter for counter in windows_object.counters.values()} if windows_object else {}
    )
    return str(CounterPath(None, object_, series.tag("instance"), names.get(series.field, series.field)))
