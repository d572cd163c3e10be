"""The hosts that are expected to send samples, and an alert for each host that is silent.

A host is expected once it has sent for ten minutes, or when up.toml lists it, until it is retired. It is silent if its
newest sample is older than both `silent_after` and four sampling intervals. Time in which Plimsoll did not run or the
machine slept does not count. If all of several expected hosts are silent, a further alert says so. A host that sends
may also lack the samples of one resource: processors, memory or disks.
"""

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import astuple, dataclass, replace

from plimsoll.alerting.alert import Details, Kind
from plimsoll.alerting.alert_rows import NewAlert, begin, count_firing, end
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import format_count
from plimsoll.model.series import HostKey, make_host_key
from plimsoll.model.times import SECOND, format_duration
from plimsoll.rules.schema.field_types import Resource

HOST_SILENT = "host-silent"
ALL_SILENT = "all-hosts-silent"
SILENT_AFTER = 120 * SECOND
EXPECTED_AFTER = 600 * SECOND
_INTERVALS = 4
_LOOK_EVERY = 60 * SECOND  # for resources
_ASLEEP = 60 * SECOND  # longer between two steps than any step takes
_LOOK_AT = ("its agent (Telegraf, the collector)", "the network between it and this machine", "its clock")


@dataclass(frozen=True, slots=True)
class LastSample:
    """The time of a host's newest sample (UTC ns), and its sampling interval (ns; None if unknown)."""

    newest: int
    interval: int | None = None


@dataclass(frozen=True, slots=True)
class Host:
    """A host of the inventory: a row of the table `roster`.

    `host` is the case-folded name, `name` the name as first spelled. From `since` on, samples have come without a long
    pause; `newest` is the time of the newest sample. Times are UTC ns.
    """

    host: str
    name: str
    since: int | None = None
    newest: int | None = None
    interval: int | None = None
    expected: int = 0
    retired_at: int | None = None

    @property
    def is_expected(self) -> bool:
        """Whether an alert fires if the host is silent."""
        return bool(self.expected) and self.retired_at is None

    def is_late(self, now: int) -> bool:
        """Return whether the newest sample is so old that there is a long pause before the next."""
        return self.newest is None or now - self.newest > max(SILENT_AFTER, _INTERVALS * (self.interval or 0))

    def after(self, last_sample: LastSample, now: int) -> "Host":
        """Return the host's row after a sample. A retired host that sends again is expected again."""
        newest = min(last_sample.newest, now)  # a clock that is ahead must not hide that the host is silent
        if self.newest is not None and newest <= self.newest:
            return self
        paused = self.since is None or self.newest is None or newest - self.newest > EXPECTED_AFTER
        since = newest if paused or self.since is None else self.since
        returned = self.retired_at is not None and newest > self.retired_at
        return Host(
            host=self.host,
            name=self.name,
            since=since,
            newest=newest,
            interval=last_sample.interval or self.interval,
            expected=int(bool(self.expected) or returned or newest - since >= EXPECTED_AFTER),
            retired_at=None if returned else self.retired_at,
        )

    def early(self, now: int) -> "Host":
        """Return the host's row after a write with samples from the future only."""
        if self.newest is not None or self.retired_at is not None:
            return self
        since = now if self.since is None else self.since
        return replace(self, since=since, expected=int(bool(self.expected) or now - since >= EXPECTED_AFTER))


class HostInventory:
    """The expected hosts; only the alert loop uses this object."""

    def __init__(self, file: AlertsFile, listed: Sequence[str] = (), silent_after: int = SILENT_AFTER) -> None:
        self._file = file
        self.expect(listed, silent_after)
        self._watching: int | None = None
        self._stepped = 0
        self._noted: dict[int, str] = {}
        self._sampled: dict[tuple[str, Resource], tuple[int, int]] = {}
        self._late: Set[tuple[str, Resource]] = frozenset()
        self._unsent: Mapping[str, Mapping[Resource, int]] = {}

    def expect(self, listed: Sequence[str], silent_after: int) -> None:
        """From the next step on, expect the hosts `listed`, and alert on hosts silent for `silent_after` (ns)."""
        self._listed = {make_host_key(name): name for name in listed}
        self._silent_after = silent_after

    def step(
        self,
        samples: Mapping[str, LastSample],
        now: int,
        reasons: Mapping[HostKey, str] | None = None,
        early: Collection[str] = (),
    ) -> None:
        """Begin and end the alerts of silent hosts, at every evaluation that does not catch up.

        `samples` has the last sample of each host, by its name. `reasons` say why the samples of some hosts
        (case-folded) cannot be judged. `early` are hosts that send samples from the future.

        Raise NotKept if alerts.db cannot be written; the next call makes up for the failed call.
        """
        if self._watching is None or not 0 <= now - self._stepped <= _ASLEEP:
            self._watching = now
        self._stepped = now
        before = {host.host: host for host in read_hosts(self._file)}
        inventory = {key: Host(key, name, expected=1) for key, name in self._listed.items()} | before
        for name, sample in samples.items():
            key = make_host_key(name)
            inventory[key] = inventory.get(key, Host(key, name)).after(sample, now)
        for name in early:
            key = make_host_key(name)
            inventory[key] = inventory.get(key, Host(key, name)).early(now)
        with self._file.transaction() as connection:
            changed = [astuple(host) for key, host in inventory.items() if host != before.get(key)]
            connection.executemany("INSERT OR REPLACE INTO roster VALUES (?, ?, ?, ?, ?, ?, ?)", changed)
            expected = [host for host in inventory.values() if host.is_expected]
            self._update_silence_alerts(expected, now, self._watching, reasons or {}, connection)

    def unsent(
        self,
        newest: Callable[[int], Mapping[tuple[str, Resource], tuple[int, int]]],
        samples: Mapping[str, LastSample],
        now: int,
    ) -> Mapping[str, Mapping[Resource, int]]:
        """Return, by host (case-folded), the resources that it stopped sending, each with its newest sample (UTC ns).

        `newest` is called every minute and returns the same as `AlertStates.newest`. A resource counts only if the host
        sent other samples later: in an outage all samples are late.
        """
        if now % _LOOK_EVERY:
            return self._unsent
        for key, (at, interval) in newest(now - _LOOK_EVERY).items():
            self._sampled[key] = max(at, self._sampled.get(key, (0, 0))[0]), interval
        heard: dict[str, int] = {make_host_key(name): sample.newest for name, sample in samples.items()}
        limit = max(self._silent_after, SILENT_AFTER)
        late = {
            key: at
            for key, (at, interval) in self._sampled.items()
            if heard.get(key[0], 0) - at > max(limit, _INTERVALS * interval)
        }
        unsent: dict[str, dict[Resource, int]] = {}
        for host, resource in late.keys() & self._late:  # an agent that starts again does not send all at once
            before = self._unsent.get(host, {}).get(resource, late[host, resource])
            unsent.setdefault(host, {})[resource] = min(before, late[host, resource])
        self._late, self._unsent = late.keys(), unsent
        return unsent

    def forget_resources(self) -> None:
        """Forget when hosts sent which resources, as new settings may judge different resources."""
        self._sampled, self._late, self._unsent = {}, frozenset(), {}

    def oldest_first(self) -> list[str]:
        """Return the hosts (case-folded): first those that up.toml lists, then the others, those first seen first."""
        unlisted = [host for host in read_hosts(self._file) if host.host not in self._listed and host.since is not None]
        return [*self._listed, *(host.host for host in sorted(unlisted, key=lambda host: host.since or 0))]

    def _update_silence_alerts(
        self,
        expected: Sequence[Host],
        now: int,
        watching: int,
        reasons: Mapping[HostKey, str],
        connection: sqlite3.Connection,
    ) -> None:
        """Begin and end the alerts of silent hosts, one for each host, and the alert that all hosts are silent."""
        rows = connection.execute(
            "SELECT id, kind, host FROM alerts WHERE ended_at IS NULL AND kind IN ('host-silent', 'all-silent')"
        ).fetchall()
        firing = {(row["kind"], make_host_key(row["host"])): row["id"] for row in rows}
        silent = 0
        for host in expected:
            limit = max(self._silent_after, _INTERVALS * (host.interval or 0))
            number = firing.get(("host-silent", make_host_key(host.host)))
            if host.newest is not None and now - host.newest <= limit:
                if number is not None:
                    end(connection, number, now, now, "recovered")
            elif number is not None or now - max(host.newest or watching, watching) > limit:
                silent += 1
                note = reasons.get(make_host_key(host.host), "")
                if number is None:
                    details = Details(
                        title="Samples",
                        limit=f"one in {format_duration(limit)}",
                        summary="A host sends no more samples: its thresholds are not judged.",
                        note=note,
                        look_at=_LOOK_AT,
                    )
                    _begin(connection, "host-silent", host.name, host.newest, now, details)
                elif self._noted.get(number) != note:
                    query = "UPDATE alerts SET details = json_set(details, '$.note', ?) WHERE id = ?"
                    connection.execute(query, (note, number))
                    self._noted[number] = note
        everywhere = len(expected) > 1 and silent == len(expected)
        number = firing.get(("all-silent", make_host_key("")))
        if everywhere and number is None:
            newest = max((host.newest for host in expected if host.newest is not None), default=None)
            count = format_count(len(expected), "host")
            details = Details(
                title=f"Samples of {count}",
                limit="some",
                summary=f"No data from any of {count}: no threshold is judged.",
                look_at=(
                    "the network of this machine",
                    "whether the agents reach the address that Plimsoll listens on",
                ),
            )
            _begin(connection, "all-silent", "", newest, now, details)
        elif not everywhere and number is not None:
            end(connection, number, now, now, "recovered")


def read_hosts(file: AlertsFile) -> list[Host]:
    """Return all hosts of the inventory, including retired hosts and hosts not yet expected."""
    return [Host(**dict(row)) for row in file.rows("SELECT * FROM roster ORDER BY host")]


def read_retirements(file: AlertsFile) -> dict[HostKey, int]:
    """Return when (UTC ns) each retired host (case-folded) was retired; a host that sent since is retired no longer."""
    rows = file.rows("SELECT host, retired_at FROM roster WHERE retired_at IS NOT NULL")
    return {make_host_key(row["host"]): row["retired_at"] for row in rows}


def retire(file: AlertsFile, name: str, now: int) -> tuple[Host, int]:
    """Retire a host and end its alerts; return the host and the number of alerts ended. Raise Unusable if unknown.

    The statuses of the host's rules are forgotten, so that the rules can fire again if the host sends again.
    """
    gone = next((host for host in read_hosts(file) if host.host == make_host_key(name)), None)
    if gone is None:
        raise Unusable(f'host "{name}" is not known; {Parameter.HOSTS} of plimsoll alerts list shows those that are')
    with file.transaction() as connection:
        connection.execute("UPDATE roster SET retired_at = ? WHERE host = ?", (now, gone.host))
        rows = connection.execute("SELECT id, host FROM alerts WHERE ended_at IS NULL").fetchall()
        numbers = [row["id"] for row in rows if make_host_key(row["host"]) == gone.host]
        for number in numbers:
            end(connection, number, now, now, "retired")
        connection.execute("DELETE FROM statuses WHERE json_extract(key, '$[1]') = ?", (gone.host,))
    return gone, len(numbers)


def _begin(
    connection: sqlite3.Connection, kind: Kind, host: str, newest: int | None, now: int, details: Details
) -> None:
    rule = HOST_SILENT if kind == "host-silent" else ALL_SILENT
    key = rule, make_host_key(host), None
    begun = NewAlert(key, kind, rule, "critical", host, fired_at=now, since=newest, details=details)
    count_firing(connection, begin(connection, begun, now), now)
