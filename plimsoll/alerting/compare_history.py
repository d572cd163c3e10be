"""Compares the history of alerts with what a replay of the stored samples finds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from plimsoll.alerting.alert import Alert
from plimsoll.alerting.alert_intervals import AlertInterval


@dataclass(frozen=True, slots=True)
class Difference:
    """An alert that only one side has, or that has another end. Times are UTC ns; no end: it fires still.

    `late`: the history has it from samples that came late.
    """

    what: Literal["only in the history", "only in the replay", "other end"]
    rule: str
    place: str
    fired_at: int
    kept_end: int | None = None
    replayed_end: int | None = None
    late: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many alerts are the same on both sides, and the differences in the order in which they fired."""

    same: int
    differences: Sequence[Difference]


def compare(kept: Iterable[Alert], replayed: Iterable[AlertInterval], start: int, end: int) -> Comparison:
    """Compare the alerts of rules that fired from `start` to `end` (UTC ns).

    Ends after `end` are not compared, nor are those of alerts that were closed because their host was retired or their
    rule removed.
    """
    alerts = {(one.key, one.fired_at): one for one in kept if one.kind == "rule" and start <= one.fired_at <= end}
    episodes = {(one.key, one.fired_at): one for one in replayed if start <= one.fired_at <= end}
    same, found = 0, list[Difference]()
    for key in sorted(alerts.keys() | episodes.keys(), key=lambda key: (key[1], str(key[0]))):
        alert, episode = alerts.get(key), episodes.get(key)
        if alert is None and episode is not None:
            found.append(
                Difference(
                    "only in the replay", episode.rule.id, str(episode.subject), key[1], replayed_end=episode.ended_at
                )
            )
        elif alert is not None and episode is None:
            found.append(
                Difference("only in the history", alert.rule, alert.place, key[1], alert.ended_at, late=alert.late)
            )
        elif alert is not None and episode is not None:
            closed = alert.ended_how in ("retired", "rule removed")
            if closed or _within(alert.ended_at, end) == _within(episode.ended_at, end):
                same += 1
            else:
                found.append(
                    Difference(
                        "other end", alert.rule, alert.place, key[1], alert.ended_at, episode.ended_at, alert.late
                    )
                )
    return Comparison(same, found)


def _within(moment: int | None, end: int) -> int | None:
    return moment if moment is not None and moment <= end else None
