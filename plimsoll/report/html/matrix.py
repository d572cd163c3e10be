"""The matrix of hosts and judged signals. Each cell shows its state by a symbol and a word."""

from collections.abc import Callable
from typing import Any, TypeAlias

from plimsoll.model.series import make_host_key
from plimsoll.report.html.crossed import make_anchor
from plimsoll.review.findings import CROSSED, Finding, Outcome
from plimsoll.review.review import Review
from plimsoll.rules.wording import MARKS, SEVERITIES

_FEWEST_HOSTS = 4
_MOST_HOSTS = 300
_MOST_SIGNALS = 60
# Word and symbol of other outcomes than crossed and held, worst first.
_OTHER = {
    Outcome.TOO_SHORT: ("too short to tell", "…"),
    Outcome.NO_DATA: ("no data", "–"),
    Outcome.NOT_JUDGED: ("not judged", "?"),
}
_BRIEF, _WITHIN_LIMITS = ("crossed briefly", "∿"), ("within limits", "·")
# The state of a signal on a host: sign, word, kind (the severity if it was crossed), and the id that it links to.
Cell: TypeAlias = tuple[str, str, str, str]


def build_matrix(review: Review, link_of: Callable[[Finding], str]) -> dict[str, Any] | None:
    """Return the data of the matrix, hosts and signals worst first; None with three hosts or fewer.

    For a finding whose limit was not crossed, `link_of` returns the id of the item that the cell links to.
    """
    worst: dict[tuple[str, str], Finding] = {}
    columns: dict[str, str] = {}
    for finding in sorted(review.findings, key=_rank):
        if finding.subject is not None and finding.outcome in (*CROSSED, Outcome.WITHIN, *_OTHER):
            worst.setdefault((make_host_key(finding.subject.host), finding.rule.signal), finding)
            if finding.track is not None:
                columns.setdefault(finding.rule.signal, finding.signal.title)
    if len(review.hosts) < _FEWEST_HOSTS or not columns:
        return None
    shown = list(columns)[:_MOST_SIGNALS]
    ranks = {
        host: sorted(
            _rank(worst[make_host_key(host), signal]) for signal in columns if (make_host_key(host), signal) in worst
        )
        for host in review.hosts
    }
    hosts = sorted(review.hosts, key=lambda host: (ranks[host] or [(99.0, 0.0)], make_host_key(host)))
    section = {finding: group.signal for group in review.groups for finding in (*group.findings, *group.not_counted)}

    def link(finding: Finding) -> str:
        return make_anchor("crossed", section[finding]) if finding in section else link_of(finding)

    rows = tuple(
        (host, tuple(_build_cell(worst.get((make_host_key(host), signal)), link) for signal in shown))
        for host in hosts[:_MOST_HOSTS]
    )
    return {
        "signals": [columns[signal] for signal in shown],
        "hosts": rows,
        "hidden_hosts": len(hosts) - len(rows),
        "hidden_signals": len(columns) - len(shown),
        "legend": list(dict.fromkeys(cell[:3] for _, cells in rows for cell in cells if cell[0])),
    }


def _build_cell(finding: Finding | None, link_of: Callable[[Finding], str]) -> Cell:
    if finding is None:
        return "", "not recorded", "none", ""
    if finding.outcome in CROSSED:
        severity = finding.rule.severity
        return MARKS[severity], f"{severity}, crossed", severity, link_of(finding)
    if finding.outcome == Outcome.WITHIN:
        word, sign = _BRIEF if finding.crossed_briefly else _WITHIN_LIMITS
        return sign, word, "quiet", link_of(finding)
    word, sign = _OTHER[finding.outcome]
    return sign, word, "quiet", link_of(finding) if finding.outcome == Outcome.TOO_SHORT else "unjudged"


def _rank(finding: Finding) -> tuple[float, float]:
    """Return a sort key: crossed by severity, recorded too briefly, crossed briefly, within limits by room, others."""
    if finding.outcome in CROSSED:
        return (SEVERITIES.index(finding.rule.severity), -(finding.share_of_time or 0))
    if finding.outcome == Outcome.WITHIN:
        return (4 if finding.crossed_briefly else 5, finding.room if finding.room is not None else float("inf"))
    return (3 if finding.outcome == Outcome.TOO_SHORT else 6, 0)
