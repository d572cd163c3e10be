"""Chooses the Windows counters to record on a host so that some packs can be judged."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.model.perfmon import SQL_DEFAULT, SQL_NAMED, CounterPath
from plimsoll.model.shipped_tables import shipped_files
from plimsoll.model.strict_yaml import read, validate
from plimsoll.rules.schema.field_types import EACH, Strict
from plimsoll.rules.schema.pack import Pack
from plimsoll.rules.schema.signal import Signal


@dataclass(frozen=True, slots=True)
class Counters:
    """Paths to record, grouped by object, and a note on each choice between equivalent counters."""

    paths: tuple[CounterPath, ...]
    notes: tuple[str, ...] = ()

    @property
    def recorded(self) -> tuple[CounterPath, ...]:
        """The paths without duplicates: `(*)` covers every instance, including `_Total`."""
        whole = {_key(path) for path in self.paths if path.instance == EACH}
        return tuple(
            path
            for path in self.paths
            if path.instance in (None, EACH) or _key(path._replace(instance=EACH)) not in whole
        )

    def as_list(self) -> str:
        """Return a path per line, for `typeperf -cf` and `logman create counter -cf`.

        Unusable if a path is not ASCII: each host would decode it differently.
        """
        for path in map(str, self.recorded):
            if not path.isascii():
                raise Unusable(
                    f"{path}: typeperf and logman read lists of ASCII alone; "
                    f"use {Parameter.AS} logman or {Parameter.AS} telegraf"
                )
        return "".join(f"{path}\n" for path in self.recorded)

    def by_object(self) -> Mapping[str, Sequence[CounterPath]]:
        """The paths by object."""
        found: dict[str, list[CounterPath]] = {}
        for path in self.paths:
            found.setdefault(path.object, []).append(path)
        return found


def signals_of(packs: Iterable[Pack], signals: Mapping[str, Signal]) -> tuple[str, ...]:
    """The signals that the rules use in conditions and `look_at`, with the operands of derived ones."""
    rules = [rule for pack in packs for rule in pack.rules]
    named = [name for rule in rules for name in (*(one.signal for one in rule.conditions), *rule.look_at)]
    return tuple(dict.fromkeys(one for name in named for one in _operands(name, signals)))


def counters(names: Iterable[str], signals: Mapping[str, Signal], instances: Sequence[str] = ()) -> Counters:
    """The counters to record for these signals on a current Windows.

    SQL Server's counters are those of the default instance and of the named `instances`. A signal without a counter
    path adds nothing.
    """
    choice = _Choice()
    chosen = {_key(path): path for name in names for path in choice.of(signals[name])}
    paths = [copy for path in chosen.values() for copy in (path, *_of_instances(path, instances))]
    order = {name: at for at, name in enumerate(dict.fromkeys(path.object for path in paths))}
    paths.sort(key=lambda path: (order[path.object], path.counter.casefold(), path.instance or ""))
    return Counters(tuple(paths), choice.notes())


def is_everywhere(object_: str) -> bool:
    """Whether every Windows has an object."""
    return object_ in _table().everywhere


def comes_and_goes(object_: str) -> bool:
    """Whether instances of an object start and end during a recording."""
    return any(fnmatchcase(object_, name) for name in _table().come_and_go)


class Gone(Strict):
    """An object, or one counter of it, that current versions of Windows no longer have."""

    object: str
    counter: str | None = None
    why: str

    def is_meant(self, path: CounterPath) -> bool:
        """Whether it includes the counter of a path."""
        return path.object == self.object and self.counter in (None, path.counter)


class Table(Strict):
    """The contents of counters.yaml; the comments there explain the fields."""

    everywhere: dict[str, str | None]
    gone: tuple[Gone, ...]
    come_and_go: tuple[str, ...]


class _Choice:
    """Chooses among the paths of each signal, and remembers which were left out in favour of which."""

    def __init__(self) -> None:
        self._everywhere = list(_table().everywhere)
        self._gone: dict[str, str] = {}
        self._objects: dict[str, dict[str, None]] = {}
        self._counters: dict[tuple[str, str], dict[str, None]] = {}

    def of(self, signal: Signal) -> Iterator[CounterPath]:
        """The paths to record for a signal."""
        sources = (source for source in signal.sources if not source.fallback)
        paths = [source.path for source in sources if source.path and not self._is_gone(source.path)]
        common = [path for path in paths if is_everywhere(path.object)]
        first = min(common, key=lambda path: self._everywhere.index(path.object)) if common else None
        for path in paths:
            if first is None or path == first or not is_everywhere(path.object):
                yield path
            elif path.object == first.object:
                self._counters.setdefault((first.object, first.counter), {})[path.counter] = None
            else:
                self._objects.setdefault(first.object, {})[path.object] = None

    def _is_gone(self, path: CounterPath) -> bool:
        for gone in _table().gone:
            if gone.is_meant(path):
                name = f"{gone.object}\\{gone.counter}" if gone.counter else gone.object
                self._gone[name] = gone.why
                return True
        return False

    def notes(self) -> tuple[str, ...]:
        """One line for each choice and each counter that was left out."""
        objects = [
            f"{taken}, not {', '.join(left)}: {_table().everywhere[taken] or 'both say the same'}."
            for taken, left in self._objects.items()
        ]
        counters = [
            f"{object_}: {taken}, not {', '.join(left)}: one is enough."
            for (object_, taken), left in self._counters.items()
        ]
        return (*objects, *counters, *(f"Not {name}: {why}." for name, why in self._gone.items()))


def _operands(name: str, signals: Mapping[str, Signal]) -> Iterator[str]:
    """A signal and all that it is computed from."""
    yield name
    derived = signals[name].derived
    for operand in derived.operands if derived else ():
        yield from _operands(operand, signals)


def _of_instances(path: CounterPath, instances: Sequence[str]) -> Iterator[CounterPath]:
    """The path for each named instance, if it is a counter of SQL Server; else nothing."""
    server, colon, rest = path.object.partition(":")
    if colon and server == SQL_DEFAULT:
        for name in instances:
            yield path._replace(object=f"{SQL_NAMED}{name}:{rest}")


def _key(path: CounterPath) -> tuple[str, str, str]:
    """Windows compares the parts of a path without regard to case."""
    return path.object.casefold(), (path.instance or "").casefold(), path.counter.casefold()


@cache
def _table() -> Table:
    return validate(read("counters.yaml", shipped_files("rules").joinpath("counters.yaml").read_bytes()), Table)
