"""Grouping and throttling: which alerts the next message to a target contains, and when it is sent.

A message contains the alerts whose firing or end the target was not notified of yet, and repetitions of alerts that
still fire. An alert that had to wait is sent in its latest state: one that fired and recovered in the meantime is one
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
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND
from plimsoll.notify.settings import QuietHours, TargetSettings
from plimsoll.rules.wording import SEVERITIES

_OF_NO_HOST = ("all-silent", "plimsoll")
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
HOST_EVERY = MINUTE  # the least time between two messages about one host
MOST_HOSTS = 3  # with news at the same time, each in a message of its own
FREE = 15  # messages in an hour; from then on one each PACE
PACE = 4 * MINUTE
MOST_AN_HOUR = FREE + HOUR // PACE
FORGOTTEN = 24 * HOUR  # alerts that fired and ended, and could not be told for so long
GRACE = 30 * SECOND  # one silent host may be the first of all hosts
_REPEATS = (HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 16 * HOUR, 24 * HOUR)
_TAKEN_ALONG = 0.75  # of the time to its repetition
News = Literal["fired", "still", "ended", "fired and ended"]
ENDED = ("ended", "fired and ended")


@dataclass(frozen=True, slots=True)
class Notified:
    """A target's last notification of an alert.

    `news` is whether the alert fired or ended, `at` when the message was sent (UTC ns), and `times` how often the
    target was notified since the alert fired.
    """

    news: Literal["fired", "ended"]
    at: int
    times: int = 1


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings by which a target gets alerts, and its quiet hours.

    `packs_of` has the pack of each rule, `labels_of` the labels of each host (case-folded).
    """

    target: TargetSettings
    quiet: QuietHours
    packs_of: Mapping[str, str] = field(default_factory=dict[str, str])
    labels_of: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    def wants(self, alert: Alert) -> bool:
        """Return whether the target's settings select an alert, by its severity, host, labels and pack.

        An alert about no single host is selected by its severity alone.
        """
        target, labels = self.target, self.labels_of.get(make_host_key(alert.host), {})
        if alert.severity not in target.severities or alert.kind in _OF_NO_HOST:
            return alert.severity in target.severities
        if target.hosts and not any(is_like(alert.host, pattern) for pattern in target.hosts):
            return False
        if not all(name in labels and is_like(labels[name], pattern) for name, pattern in target.labels.items()):
            return False
        pack = self.packs_of.get(alert.rule)  # alerts of silent hosts or removed rules have no pack
        return not target.packs or pack is None or pack in target.packs

    def check(self, setting: str) -> None:
        """Raise Unusable, naming the setting (`notify.team`), if a pack does not exist or no host has a label."""
        packs = sorted({*self.packs_of.values()})
        if (pack := next((pack for pack in self.target.packs if pack not in packs), None)) is not None:
            near = get_close_matches(pack, packs, 1)
            meant = f"; did you mean {near[0]}?" if near else "; plimsoll rules list names them all"
            raise Unusable(f'{setting}.packs: no pack "{pack}"{meant}')
        for name, pattern in self.target.labels.items():
            if not any(name in labels and is_like(labels[name], pattern) for labels in self.labels_of.values()):
                raise Unusable(f'{setting}.labels: no host of plimsoll.toml has the label {name} = "{pattern}"')

    def spares(self, alert: Alert, now: int) -> bool:
        """Return whether the target's `after`, if set, excludes an alert.

        An alert is excluded if it was acknowledged, or has fired for less than `after`.
        """
        lasted = (now if alert.ended_at is None else alert.ended_at) - alert.fired_at
        return self.target.after > 0 and (alert.acked_at is not None or lasted < self.target.after)


@dataclass(frozen=True)
class Situation:
    """Everything that the next message to a target depends on. Times are in UTC ns.

    `alerts` are the alerts of the target's severities that fire, or ended recently; `firing` are all firing alerts.
    `notified` has the last notification of each alert by the alert's id, `hosts` the time of the last notification
    about each host (case-folded), `sent` the times of messages in the last hour. `silences` are the active silences.
    Alerts that ended before `since`, when the target was added, are not sent.
    """

    alerts: Sequence[Alert]
    firing: Sequence[Alert] = ()
    notified: Mapping[int, Notified] = field(default_factory=dict[int, Notified])
    silences: Sequence[Silence] = ()
    hosts: Mapping[str, int] = field(default_factory=dict[str, int])
    sent: Sequence[int] = ()
    since: int = 0

    @cached_property
    def flapping(self) -> frozenset[Key]:
        """The keys of flapping alerts."""
        return frozenset(alert.key for alert in self.firing if alert.kind == "flapping")

    @cached_property
    def silent(self) -> frozenset[str]:
        """The hosts (case-folded) that send no samples; with "" among them if all hosts are silent."""
        return frozenset(make_host_key(alert.host) for alert in self.firing if alert.kind.endswith("-silent"))

    @cached_property
    def past(self) -> Mapping[IncidentKey, Sequence[Alert]]:
        """The firing rule alerts of severity warning or critical, by incident."""
        return _group_by_incident(alert for alert in self.firing if alert.severity != "info")

    @cached_property
    def notified_limits(self) -> Mapping[IncidentKey, Sequence[Alert]]:
        """The firing rule alerts, by incident, of which the target was notified and that are not muted."""
        alerts = (
            alert for alert in self.firing if alert.id in self.notified and self.notified[alert.id].news == "fired"
        )
        return _group_by_incident(alert for alert in alerts if not _is_muted(alert, self))


def _group_by_incident(alerts: Iterable[Alert]) -> dict[IncidentKey, list[Alert]]:
    return group_pairs((alert.incident, alert) for alert in alerts if alert.kind == "rule")


@dataclass(frozen=True, slots=True)
class Item:
    """An alert in a message, and its news.

    If the alert ended, `remains` is the most severe alert of its incident that still fires. The target need not have
    been notified of `remains`, which may be silenced, or a warning while the target gets critical alerts only.
    """

    alert: Alert
    news: News
    remains: Alert | None = None


@dataclass(frozen=True, slots=True)
class AlertGroup:
    """The alerts of one message to a target.

    `held_back`: quiet hours delayed some of the alerts; `paced`: messages are throttled.
    """

    items: tuple[Item, ...]
    held_back: bool = False
    paced: bool = False


def find_next_group(situation: Situation, policy: Policy, now: int) -> AlertGroup | None:
    """Return the alerts to send to the target now; None if there are none, or if all must wait."""
    items = list(_list_due(situation, policy, now))
    if not any(_is_urgent(item, situation, now) for item in items):
        return None
    news = [item for item in items if item.news != "still"]
    recent = [at for at in situation.sent if at > now - HOUR]
    paced = len(recent) >= FREE
    if paced and now - max(recent) < PACE:
        return None
    # News of an ended alert is dated by its end.
    times = [(item.alert, item.alert.fired_at if item.alert.ended_at is None else item.alert.ended_at) for item in news]
    held_back = any(policy.quiet.hold(alert.severity, at) for alert, at in times)
    if held_back or paced or any(item.alert.kind == "all-silent" for item in items):
        return AlertGroup(tuple(items), held_back, paced)
    ready = [item for item in items if now - situation.hosts.get(make_host_key(item.alert.host), 0) >= HOST_EVERY]
    urgent = [make_host_key(item.alert.host) for item in ready if _is_urgent(item, situation, now)]
    if len(set(urgent)) > MOST_HOSTS:
        return AlertGroup(tuple(ready))
    first = urgent[:1]
    return AlertGroup(tuple(item for item in ready if make_host_key(item.alert.host) in first)) if first else None


def _list_due(situation: Situation, policy: Policy, now: int) -> Iterator[Item]:
    """Yield the alerts that have news of which the target may be notified now."""
    for alert in situation.alerts:
        news = _find_news(alert, situation, now)
        if alert.id in situation.notified:  # even if the target no longer wants the alert: it must not stay open there
            is_wanted = policy.wants(alert) or news in ENDED
        else:
            is_wanted = policy.wants(alert) and not policy.spares(alert, now)
        if news and is_wanted and not policy.quiet.hold(alert.severity, now) and not _is_muted(alert, situation):
            remains = None
            if news in ENDED and alert.kind == "rule" and alert.ended_how == "recovered":
                earlier_alerts = situation.past.get(alert.incident, ())
                remains = min(
                    earlier_alerts, key=lambda other: (SEVERITIES.index(other.severity), other.id), default=None
                )
            yield Item(alert, news, remains)


def _find_news(alert: Alert, situation: Situation, now: int) -> News | None:
    """Return the news of an alert of which the target is to be notified; None if there is none, or if it must wait."""
    notified = situation.notified.get(alert.id)
    if alert.hold:
        return None
    if alert.ended_at is None:
        if notified is None:
            early = alert.kind == "host-silent" and now - alert.fired_at < GRACE
            return None if alert.hush or early else "fired"
        due = notified.news == "fired" and alert.acked_at is None
        return "still" if due and now - notified.at >= _TAKEN_ALONG * _repeat_after(alert, notified) else None
    if notified is not None:
        over = notified.news == "fired" and not _list_other_limits(alert, situation)
        return "ended" if over else None
    brief = alert.kind == "host-silent" and alert.ended_at - alert.fired_at < GRACE
    is_old = alert.ended_at <= max(situation.since, now - FORGOTTEN)
    return None if alert.hush or brief or is_old or _list_other_limits(alert, situation) else "fired and ended"


def _is_urgent(item: Item, situation: Situation, now: int) -> bool:
    """Return whether the alert of an item is a reason to send a message; if not, it waits for the next message.

    An early repetition waits, and so does an alert if the target already has an equally severe alert of the incident.
    """
    if item.news == "fired":
        rank = SEVERITIES.index(item.alert.severity)
        return all(SEVERITIES.index(other.severity) > rank for other in _list_other_limits(item.alert, situation))
    notified = situation.notified.get(item.alert.id)
    return item.news != "still" or notified is None or now - notified.at >= _repeat_after(item.alert, notified)


def _list_other_limits(alert: Alert, situation: Situation) -> list[Alert]:
    """Return the incident's further firing alerts of which the target was notified and that are not muted."""
    alerts = situation.notified_limits.get(alert.incident, ()) if alert.kind == "rule" else ()
    return [other for other in alerts if other.id != alert.id]


def _is_muted(alert: Alert, situation: Situation) -> bool:
    if any(silence.matches(alert.rule, alert.host, alert.instance) for silence in situation.silences):
        return True
    if alert.kind != "flapping" and alert.key in situation.flapping:
        return True
    if alert.kind in ("all-silent", "plimsoll"):
        return False
    if "" in situation.silent:
        return True
    return alert.kind != "host-silent" and make_host_key(alert.host) in situation.silent


def _repeat_after(alert: Alert, notified: Notified) -> int:
    """Return how long (ns) after the last notification the next repetition is due; longer for a flapping alert."""
    times = notified.times + (alert.kind == "flapping")
    return _REPEATS[min(times, len(_REPEATS)) - 1]


def make_policy(target: TargetSettings, quiet: QuietHours, site: Site) -> Policy:
    """Return the policy of a target in a site."""
    packs_of = {rule.id: pack.pack for pack in site.catalogue.packs for rule in pack.rules}
    return Policy(target, quiet, packs_of, site.labels)
