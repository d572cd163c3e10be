"""The series of live hosts; if there are too many hosts, only the hosts that sent samples first."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from plimsoll.model.series import Series, make_host_key
from plimsoll.model.times import SECOND
from plimsoll.rules.subjects import find_host
from plimsoll.store.protocol import SampleReader

MOST_HOSTS = 5000
# Staleness of a series: without samples for so long it is no longer judged; a firing alert stays firing, marked stale.
_FORGOTTEN = 3600 * SECOND


class SeriesIndex:
    """The judged series of a store, updated by each `look`.

    If there are more than `most_hosts` hosts, hosts judged before come first, then other hosts: first those of `oldest`
    (known hosts, case-folded, in order of preference), so that a new host cannot displace an old host. `left_out` names
    the hosts that the last `look` left out. For `tags` see `subjects.find_host`.
    """

    def __init__(self, store: SampleReader, tags: Collection[str], most_hosts: int, oldest: Sequence[str]) -> None:
        self._store = store
        self._tags = tags
        self._most_hosts = most_hosts
        self._rank = {host: at for at, host in enumerate(oldest)}
        self._entries: dict[object, _Entry] = {}
        # By identity: stores give the same objects again and again, and keys take long to make.
        self._recent: dict[int, tuple[Series, _Entry]] = {}
        self._before: tuple[Sequence[Series], list[_Entry], dict[str, str]] = [], [], {}
        self._hosts: dict[str, None] = {}
        self.left_out: Collection[str] = ()

    @property
    def hosts(self) -> Collection[str]:
        """The judged hosts (case-folded), in the order in which they were added."""
        return self._hosts

    @property
    def series(self) -> list[Series]:
        """The judged series."""
        return [entry.series for entry in self._entries.values()]

    def get(self, key: object) -> Series | None:
        """Return the series with a key; None if the index has no such series."""
        entry = self._entries.get(key)
        return entry.series if entry else None

    def host_of(self, series: Series) -> str:
        """Return the host (case-folded) that a series describes."""
        entry = self._recent.get(id(series))
        return entry[1].host if entry else make_host_key(find_host(series, self._tags))

    def look(self, start: int, end: int) -> tuple[list[str], bool]:
        """Add series with samples in a range; return their judged hosts, and whether the index changed."""
        entries, names = self._list_entries(self._store.series(start, end).series)
        new = sorted(names.keys() - self._hosts, key=lambda host: (self._rank.get(host, len(self._rank)), host))
        self._hosts |= dict.fromkeys(new[: max(0, self._most_hosts - len(self._hosts))])
        self.left_out = [name for host, name in names.items() if host not in self._hosts]
        differs = False
        for entry in entries:
            if entry.heard is not None:
                entry.heard = end
            elif entry.host in self._hosts:
                judged = self._entries.setdefault(entry.series.key, entry)
                judged.heard, differs = end, differs or judged is entry
        all_sent = len(entries) == len(self._entries) and not self.left_out
        sent_before = () if all_sent else self._entries.items()
        silent = [key for key, entry in sent_before if end - (entry.heard or 0) > _FORGOTTEN]
        for key in silent:
            self._entries.pop(key).heard = None
        if silent:
            sending = {entry.host for entry in self._entries.values()}
            self._hosts = {host: None for host in self._hosts if host in sending}
        return [name for host, name in names.items() if host in self._hosts], differs or bool(silent)

    def _list_entries(self, series: Sequence[Series]) -> "tuple[list[_Entry], dict[str, str]]":
        """Return the entries of series, and their hosts' names by case-folded name; cached for the same series."""
        if series != self._before[0]:
            if len(self._recent) > 2 * max(len(series), len(self._entries)):  # of series that are gone, or left out
                self._recent = {}
            recent = self._recent
            entries = [recent[id(part)][1] if id(part) in recent else self._find_entry(part) for part in series]
            names: dict[str, str] = {}
            for entry in entries:
                names.setdefault(entry.host, entry.name)
            self._before = [*series], entries, names
        return self._before[1:]

    def _find_entry(self, series: Series) -> "_Entry":
        """Return the entry of a series; equal series share an entry."""
        entry = self._entries.get(series.key)
        if entry is None:
            name = find_host(series, self._tags)
            entry = _Entry(series, make_host_key(name), name)
        self._recent[id(series)] = series, entry
        return entry


@dataclass(slots=True)
class _Entry:
    """A series, its host (case-folded, and by name), and the time of its last samples (UTC ns; None if not judged)."""

    series: Series
    host: str
    name: str
    heard: int | None = None


class Stopped(Exception):
    """The error that ends an evaluation because the program ends."""


# A function that long computations call often; it raises Stopped when they have to end.
Check = Callable[[], None]


def check_nothing() -> None:
    """Do nothing: a check that never raises."""


def limit_time(seconds: float, check: Check) -> Check:
    """Return a check that also raises TimeoutError after a number of seconds of processor time."""
    until = time.thread_time() + seconds

    def both() -> None:
        check()
        if time.thread_time() > until:
            raise TimeoutError

    return both
