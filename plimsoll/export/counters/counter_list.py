"""Selects the Windows counters to record on a host so that the rules of chosen packs can be judged."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from plimsoll.model.counter_names.name_clues import fold_name, is_esxtop, load_objects
from plimsoll.model.errors import Unusable
from plimsoll.model.file_models import file_model
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.parameters import Parameter
from plimsoll.model.perfmon import EACH_INSTANCE, SQL_DEFAULT, SQL_NAMED, CounterPath, split_object
from plimsoll.model.shipped_tables import find_shipped_files
from plimsoll.model.strict_yaml import read, validate
from plimsoll.rules.schema.pack import Pack
from plimsoll.rules.schema.signal import Signal


@dataclass(frozen=True, slots=True)
class CounterList:
    """Counter paths to record, and notes on the counters left out: equal to a recorded one, or removed from Windows."""

    paths: tuple[CounterPath, ...]
    notes: tuple[str, ...] = ()

    @property
    def recorded(self) -> tuple[CounterPath, ...]:
        """The paths, without single instances and `_Total` of a counter that has a path for every instance (`*`)."""
        whole = {_make_key(path) for path in self.paths if path.instance == EACH_INSTANCE}
        return tuple(
            path
            for path in self.paths
            if path.instance in (None, EACH_INSTANCE) or _make_key(path._replace(instance=EACH_INSTANCE)) not in whole
        )

    def as_list(self) -> str:
        """Return one path per line, for `typeperf -cf` and `logman create counter -cf`.

        Raise Unusable if a path is not ASCII, as each host would decode it differently.
        """
        for path in map(str, self.recorded):
            if not path.isascii():
                other = f"{Parameter.AS} logman or {Parameter.AS} telegraf"
                raise Unusable(f"{path}: typeperf and logman read lists of ASCII alone; use {other}")
        return "".join(f"{path}\n" for path in self.recorded)

    def by_object(self) -> Mapping[str, Sequence[CounterPath]]:
        """Return the paths of each performance object."""
        return group_pairs((path.object, path) for path in self.paths)


def list_signals(packs: Iterable[Pack], signals: Mapping[str, Signal]) -> tuple[str, ...]:
    """Return the signals in the packs' conditions and `look_at`, with the operands of derived signals."""

    def with_operands(name: str) -> Iterator[str]:
        yield name
        derived = signals[name].derived
        for operand in derived.operands if derived else ():
            yield from with_operands(operand)

    rules = [rule for pack in packs for rule in pack.rules]
    names = [name for rule in rules for name in (*(condition.signal for condition in rule.conditions), *rule.look_at)]
    return tuple(dict.fromkeys(signal for name in names for signal in with_operands(name)))


def make_counter_list(
    names: Iterable[str], signals: Mapping[str, Signal], instances: Sequence[str] = ()
) -> CounterList:
    """Return the counters to record for these signals on a current Windows.

    SQL Server's counters are those of the default instance and of the named `instances`. Signals without a counter
    path are ignored.
    """
    choice = _Choice()
    chosen = {_make_key(path): path for name in names for path in choice.paths(signals[name])}
    paths = [copy for path in chosen.values() for copy in (path, *_list_instance_paths(path, instances))]
    order = {name: at for at, name in enumerate(load_objects())}  # the processor and what every host has come first

    first_seen = {name: at for at, name in enumerate(dict.fromkeys(path.object for path in paths))}

    def rank(path: CounterPath) -> tuple[int, int, str, str]:
        place = order.get(fold_name(split_object(path.object)[0]), len(order))
        return place, first_seen[path.object], path.counter.casefold(), path.instance or ""

    paths.sort(key=rank)
    return CounterList(tuple(paths), choice.notes())


def is_everywhere(object_: str) -> bool:
    """Return whether every Windows host has this performance object."""
    return object_ in _load_table().everywhere


def is_transient(object_: str) -> bool:
    """Return whether instances of a performance object (such as processes) start and end during a recording."""
    return any(fnmatchcase(object_, name) for name in _load_table().come_and_go)


@file_model
class RemovedCounter:
    """A performance object, or one of its counters, that current versions of Windows no longer have."""

    object: str
    counter: str | None = None
    why: str

    @property
    def name(self) -> str:
        """The name of the removed counter; of the object if the whole object was removed."""
        return f"{self.object}\\{self.counter}" if self.counter else self.object


@file_model
class RuleCounterTable:
    """The content of counters.yaml; the comments there explain the fields."""

    everywhere: dict[str, str | None]
    gone: tuple[RemovedCounter, ...]
    come_and_go: tuple[str, ...]


class _Choice:
    """Selects the counter paths to record for signals, and collects notes on the paths left out."""

    def __init__(self) -> None:
        self._everywhere = list(_load_table().everywhere)
        self._gone: dict[str, str] = {}
        self._objects: dict[str, dict[str, None]] = {}
        self._counters: dict[tuple[str, str], dict[str, None]] = {}

    def paths(self, signal: Signal) -> Iterator[CounterPath]:
        """Yield the paths to record for a signal; of equivalent counters that every Windows has, only the best."""
        paths: list[CounterPath] = []
        for path in (source.path for source in signal.sources if source.path and not source.fallback):
            if is_esxtop(path.object):
                continue  # no Windows has it
            same_object = (gone for gone in _load_table().gone if gone.object == path.object)
            if gone := next((gone for gone in same_object if gone.counter in (None, path.counter)), None):
                self._gone[gone.name] = gone.why
            else:
                paths.append(path)
        common = [path for path in paths if is_everywhere(path.object)]
        first = min(common, key=lambda path: self._everywhere.index(path.object)) if common else None
        for path in paths:
            if first is None or path == first or not is_everywhere(path.object):
                yield path
            elif path.object == first.object:
                self._counters.setdefault((first.object, first.counter), {})[path.counter] = None
            else:
                self._objects.setdefault(first.object, {})[path.object] = None

    def notes(self) -> tuple[str, ...]:
        """Return a line for each choice between equivalent counters, and for each counter that Windows removed."""
        objects = [
            f"{taken}, not {', '.join(dropped)}: {_load_table().everywhere[taken] or 'both say the same'}."
            for taken, dropped in self._objects.items()
        ]
        counters = [
            f"{object_}: {taken}, not {', '.join(dropped)}: one is enough."
            for (object_, taken), dropped in self._counters.items()
        ]
        return (*objects, *counters, *(f"Not {name}: {why}." for name, why in self._gone.items()))


def _list_instance_paths(path: CounterPath, instances: Sequence[str]) -> Iterator[CounterPath]:
    """Yield a counter path of SQL Server's default instance for each named instance; nothing for other paths."""
    server, colon, rest = path.object.partition(":")
    if colon and server == SQL_DEFAULT:
        yield from (path._replace(object=f"{SQL_NAMED}{name}:{rest}") for name in instances)


def _make_key(path: CounterPath) -> tuple[str, str, str]:
    """Return the case-folded object, instance and counter of a path; Windows ignores case."""
    return path.object.casefold(), (path.instance or "").casefold(), path.counter.casefold()


@cache
def _load_table() -> RuleCounterTable:
    return validate(
        read("counters.yaml", find_shipped_files("rules").joinpath("counters.yaml").read_bytes()), RuleCounterTable
    )
