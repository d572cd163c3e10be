"""Decides what a target is told next: which alerts, in which message, and when.

A target is told what it does not know yet: an alert that fires, or that one of which it was told has ended. So nothing
is sent twice, whatever was held back comes later as it is then, and what fired and recovered in the meantime is one
line. docs/alerts.md states the rules and the numbers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Literal

from plimsoll.alerting.alert import Alert, IncidentKey, Key
from plimsoll.alerting.alerts_file import is_like
from plimsoll.alerting.rule_targets import Site
from plimsoll.alerting.silences import Silence
from plimsoll.model.errors import Unusable
from plimsoll.model.series import host_key
from plimsoll.model.times import SECOND
from plimsoll.notify.settings import QuietHours
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.wording import SEVERITIES

_OF_NO_HOST = ("all-silent", "plimsoll")


@dataclass(frozen=True)
class Routing:
    """Patterns of hosts, packs, and patterns of labels; each leaves nothing out if it is empty.

    `packs_of` are the packs of the rules, `labels_of` the labels of the hosts (case-folded).
    """

    hosts: Sequence[str] = ()
    packs: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    packs_of: Mapping[str, str] = field(default_factory=dict[str, str])
    labels_of: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    def fits(self, alert: Alert) -> bool:
        """Return whether an alert is the target's."""
        if alert.kind in _OF_NO_HOST:
            return True
        if self.hosts and not any(is_like(alert.host, pattern) for pattern in self.hosts):
            return False
        label = self.labels_of.get(host_key(alert.host), {})
        if not all(name in label and is_like(label[name], pattern) for name, pattern in self.labels.items()):
            return False
        pack = self.packs_of.get(alert.rule)  # none of an alert of a silent host, or of a rule that is gone
        return not self.packs or pack is None or pack in self.packs

    def check(self, setting: str) -> None:
        """Unusable, naming the setting (`notify.team`), if a pack is not known, or no host has such a label."""
        items = sorted({*self.packs_of.values()})
        for pack in self.packs:
            if pack not in items:
                near = get_close_matches(pack, items, 1)
                meant = f"; did you mean {near[0]}?" if near else "; plimsoll rules list names them all"
                raise Unusable(f'{setting}.packs: no pack "{pack}"{meant}')
        for name, pattern in self.labels.items():
            if not any(name in label and is_like(label[name], pattern) for label in self.labels_of.values()):
                raise Unusable(f'{setting}.labels: no host of plimsoll.toml has the label {name} = "{pattern}"')


MINUTE = 60 * SECOND
HOUR = 60 * MINUTE

HOST_EVERY = MINUTE  # the least time between two messages about one host
MOST_HOSTS = 3  # with news at the same time, each in a message of its own
FREE = 15  # messages in an hour; from then on one each PACE
PACE = 4 * MINUTE
MOST_AN_HOUR = FREE + HOUR // PACE
FORGOTTEN = 24 * HOUR  # what fired and ended, and could not be told for so long
GRACE = 30 * SECOND  # one silent host may be the first of all hosts
_REPEATS = (HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 16 * HOUR, 24 * HOUR)
_TAKEN_ALONG = 0.75  # of the time to its repetition

News = Literal["fired", "still", "ended", "fired and ended"]
ENDED = ("ended", "fired and ended")


@dataclass(frozen=True, slots=True)
class Notified:
    """What a target was last told of an alert: that it fired or that it ended, when, and how often that it fires."""

    news: Literal["fired", "ended"]
    at: int
    times: int = 1


@dataclass(frozen=True, slots=True)
class Policy:
    """What a target wants to be told, and when: `after` (ns) if nobody has acknowledged it for so long."""

    severities: frozenset[Severity]
    quiet: QuietHours
    routing: Routing = field(default_factory=Routing)
    after: int = 0

    def wants(self, alert: Alert) -> bool:
        """Return whether an alert is the target's."""
        return alert.severity in self.severities and self.routing.fits(alert)

    def spares(self, alert: Alert, now: int) -> bool:
        """Whether the target need not be told of an alert, or not yet: somebody looks after it, or may still do so."""
        lasted = (now if alert.ended_at is None else alert.ended_at) - alert.fired_at
        return self.after > 0 and (alert.acked_at is not None or lasted < self.after)


@dataclass(frozen=True)
class Situation:
    """All that the decision for one target depends on.

    Attributes:
        alerts: Those of the target's severities that are firing, and those that ended lately.
        firing: All that are firing.
        told: What the target was told, by the alert's id.
        silences: Those that hold now.
        hosts: When the target was last told of a host, case-folded.
        sent: When messages were sent to the target, for the last hour.
        since: From when the target exists. What ended before is nothing to it.
    """

    alerts: Sequence[Alert]
    firing: Sequence[Alert] = ()
    told: Mapping[int, Notified] = field(default_factory=dict[int, Notified])
    silences: Sequence[Silence] = ()
    hosts: Mapping[str, int] = field(default_factory=dict[str, int])
    sent: Sequence[int] = ()
    since: int = 0

    @cached_property
    def flapping(self) -> frozenset[Key]:
        """The keys that are flapping."""
        return frozenset(alert.key for alert in self.firing if alert.kind == "flapping")

    @cached_property
    def silent(self) -> frozenset[str]:
        """The hosts that are silent, case-folded; "" if all are."""
        return frozenset(host_key(alert.host) for alert in self.firing if alert.kind.endswith("-silent"))

    @cached_property
    def past(self) -> Mapping[IncidentKey, Sequence[Alert]]:
        """All warning and critical limits that are past, by incident."""
        return _by_incident(alert for alert in self.firing if alert.severity != "info")

    @cached_property
    def told_limits(self) -> Mapping[IncidentKey, Sequence[Alert]]:
        """The limits that are past, not muted, and known to the target, by incident."""
        alerts = (alert for alert in self.firing if alert.id in self.told and self.told[alert.id].news == "fired")
        return _by_incident(alert for alert in alerts if not _is_muted(alert, self))


def _by_incident(alerts: Iterable[Alert]) -> dict[IncidentKey, list[Alert]]:
    limits: dict[IncidentKey, list[Alert]] = {}
    for alert in alerts:
        if alert.kind == "rule":
            limits.setdefault(alert.incident, []).append(alert)
    return limits


@dataclass(frozen=True, slots=True)
class Item:
    """One alert in a message, and what is said of it.

    `remains` is the gravest alert of the same incident that still fires when this one has ended: the target may not
    know of it, as it is a warning where only critical ones are told, or silenced.
    """

    alert: Alert
    news: News
    remains: Alert | None = None


@dataclass(frozen=True, slots=True)
class AlertGroup:
    """The alerts of one message. `held_back`: some were, by quiet hours; `paced`: messages are being limited."""

    items: tuple[Item, ...]
    held_back: bool = False
    paced: bool = False


def next_group(situation: Situation, policy: Policy, now: int) -> AlertGroup | None:
    """Return what to tell the target now; None if there is nothing, or nothing yet."""
    items = list(_due(situation, policy, now))
    if not any(_is_urgent(item, situation, now) for item in items):
        return None
    recent = [at for at in situation.sent if at > now - HOUR]
    paced = len(recent) >= FREE
    if paced and now - max(recent) < PACE:
        return None
    held_back = any(policy.quiet.hold(item.alert.severity, _happened(item)) for item in items if item.news != "still")
    if held_back or paced or any(item.alert.kind == "all-silent" for item in items):
        return AlertGroup(tuple(items), held_back, paced)
    ready = [item for item in items if now - situation.hosts.get(host_key(item.alert.host), 0) >= HOST_EVERY]
    urgent = [host_key(item.alert.host) for item in ready if _is_urgent(item, situation, now)]
    if len(set(urgent)) > MOST_HOSTS:
        return AlertGroup(tuple(ready))
    first = urgent[:1]
    return AlertGroup(tuple(item for item in ready if host_key(item.alert.host) in first)) if first else None


def _due(situation: Situation, policy: Policy, now: int) -> Iterator[Item]:
    for alert in situation.alerts:
        news = _find_news(alert, situation, now)
        if alert.id in situation.told:  # also of one that is another target's by now: it must not stay open there
            is_wanted = policy.wants(alert) or news in ENDED
        else:
            is_wanted = policy.wants(alert) and not policy.spares(alert, now)
        if news and is_wanted and not policy.quiet.hold(alert.severity, now) and not _is_muted(alert, situation):
            yield Item(alert, news, _remaining(alert, situation) if news in ENDED else None)


def _find_news(alert: Alert, situation: Situation, now: int) -> News | None:
    """Return what there is to say of an alert, if nothing mutes it."""
    notified = situation.told.get(alert.id)
    if alert.hold:
        return None
    if alert.ended_at is None:
        if notified is None:
            early = alert.kind == "host-silent" and now - alert.fired_at < GRACE
            return None if alert.hush or early else "fired"
        due = notified.news == "fired" and alert.acked_at is None
        return "still" if due and now - notified.at >= _TAKEN_ALONG * _repeat_after(alert, notified) else None
    if notified is not None:
        over = notified.news == "fired" and not _lasts(alert, situation)
        return "ended" if over else None
    brief = alert.kind == "host-silent" and alert.ended_at - alert.fired_at < GRACE
    if alert.hush or brief or alert.ended_at <= max(situation.since, now - FORGOTTEN) or _lasts(alert, situation):
        return None
    return "fired and ended"


def _is_urgent(item: Item, situation: Situation, now: int) -> bool:
    """Whether the item is worth a message. Other repetitions, and further limits of an incident, are taken along."""
    if item.news == "fired" and _covered(item.alert, situation):
        return False
    notified = situation.told.get(item.alert.id)
    return item.news != "still" or notified is None or now - notified.at >= _repeat_after(item.alert, notified)


def _covered(alert: Alert, situation: Situation) -> bool:
    """Return whether the target knows of an alert of the same incident that is as grave and still fires."""
    rank = SEVERITIES.index(alert.severity)
    return any(SEVERITIES.index(alert.severity) <= rank for alert in _other_limits(alert, situation))


def _lasts(alert: Alert, situation: Situation) -> bool:
    """Return whether another alert of the same incident that the target knows of still fires."""
    return any(_other_limits(alert, situation))


def _remaining(alert: Alert, situation: Situation) -> Alert | None:
    """Return the gravest other limit of the incident that is past."""
    if alert.kind != "rule" or alert.ended_how != "recovered":
        return None
    alerts = situation.past.get(alert.incident, ())
    return min(alerts, key=lambda alert: (SEVERITIES.index(alert.severity), alert.id), default=None)


def _other_limits(alert: Alert, situation: Situation) -> Iterator[Alert]:
    """Yield the other limits of the incident that are past, not muted, and known to the target."""
    if alert.kind != "rule":
        return
    yield from (item for item in situation.told_limits.get(alert.incident, ()) if item.id != alert.id)


def _is_muted(alert: Alert, situation: Situation) -> bool:
    if any(silence.matches(alert.rule, alert.host, alert.instance) for silence in situation.silences):
        return True
    if alert.kind != "flapping" and alert.key in situation.flapping:
        return True
    if alert.kind in ("all-silent", "plimsoll"):
        return False
    if "" in situation.silent:
        return True
    return alert.kind != "host-silent" and host_key(alert.host) in situation.silent


def _happened(item: Item) -> int:
    """Return when it happened that there is something to say."""
    return item.alert.fired_at if item.alert.ended_at is None else item.alert.ended_at


def _repeat_after(alert: Alert, notified: Notified) -> int:
    """Return the time to the next repetition. What is flapping is repeated later: after an hour it may have ended."""
    times = notified.times + (alert.kind == "flapping")
    return _REPEATS[min(times, len(_REPEATS)) - 1]


def routing(hosts: Sequence[str], packs: Sequence[str], labels: Mapping[str, str], site: Site) -> Routing:
    """Return the routing of a target at a site."""
    packs_of = {rule.id: pack.pack for pack in site.catalogue.packs for rule in pack.rules}
    return Routing(hosts, packs, labels, packs_of, site.labels)
