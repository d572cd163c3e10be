"""Which series the live hosts have: of a bounded number of hosts, those that were there first."""

from collections.abc import Callable, Collection, Sequence

from plimsoll.model.host_key import host_key
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.subjects import host_of
from plimsoll.store.protocol import Store

MOST_HOSTS = 5000
_FORGOTTEN = 3600 * SECOND  # a series without samples for so long is not judged; what fires stays firing


class LiveSeries:
    """The series of live samples in a store, as far as they were looked for.

    Of more than `most_hosts` hosts, those are judged that were judged before, then those first in `oldest`
    (case-folded), so that nobody can take the place of others. `left_out` are the names of the rest at the last look.
    `tags` name the host; see `rules.subjects.host_of`.
    """

    def __init__(self, store: Store, tags: Collection[str], most_hosts: int, oldest: Sequence[str]) -> None:
        self._store = store
        self._tags = tags
        self._most_hosts = most_hosts
        self._rank = {host: at for at, host in enumerate(oldest)}
        self._series: dict[object, Series] = {}
        self._heard: dict[object, int] = {}
        self._hosts: dict[str, None] = {}
        self._host_of: dict[Series, tuple[str, str]] = {}
        self.left_out: Collection[str] = ()

    @property
    def hosts(self) -> Collection[str]:
        """The hosts that are judged (case-folded), those first that were there first."""
        return self._hosts

    @property
    def series(self) -> list[Series]:
        """The series."""
        return [*self._series.values()]

    def get(self, key: object) -> Series | None:
        """The series of a key, if it is known."""
        return self._series.get(key)

    def look(self, start: int, end: int) -> tuple[list[str], bool]:
        """Note which series have samples in a range: their hosts, and whether the known series have changed."""
        found = [(one, *self._host(one)) for one in self._store.series(start, end, live=True).series]
        names: dict[str, str] = {}
        for _, host, name in found:
            names.setdefault(host, name)
        new = sorted(names.keys() - self._hosts, key=self._place)
        self._hosts |= dict.fromkeys(new[: max(0, self._most_hosts - len(self._hosts))])
        self.left_out = [name for host, name in names.items() if host not in self._hosts]
        differs = False
        for one, host, _ in found:
            if host in self._hosts:
                key = one.key
                if key not in self._series:
                    self._series[key], differs = one, True
                self._heard[key] = end
        silent = [key for key, last in self._heard.items() if end - last > _FORGOTTEN]
        for key in silent:
            del self._heard[key], self._series[key]
        if silent:
            sending = {self._host(one)[0] for one in self._series.values()}
            self._hosts = {host: None for host in self._hosts if host in sending}
        if len(self._host_of) > 2 * max(len(found), len(self._series)):  # of series that are gone, or were left out
            self._host_of = {one: (host, name) for one, host, name in found}
        return [name for host, name in names.items() if host in self._hosts], differs or bool(silent)

    def _host(self, series: Series) -> tuple[str, str]:
        """The host that a series describes: what it is looked up by, and its name."""
        known = self._host_of.get(series)
        if known is None:
            name = host_of(series, self._tags)
            known = self._host_of[series] = host_key(name), name
        return known

    def _place(self, host: str) -> tuple[int, str]:
        return self._rank.get(host, len(self._rank)), host


class Stopped(Exception):
    """The judging is to end."""


# Called again and again where much is computed; raises Stopped if the judging is to end.
GoOn = Callable[[], None]


def go_on() -> None:
    """Never stop."""
