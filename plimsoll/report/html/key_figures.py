"""The key figures at the top of a report: the worst signal, processor time and others, as a mean for each phase."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.charts.scale import scale_for
from plimsoll.model.host_key import host_key
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.value_text import number, quantity
from plimsoll.report.wording import extreme
from plimsoll.review.findings import CROSSED, Finding, Outcome
from plimsoll.review.ranking import nearness
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.review import Review
from plimsoll.review.sentences import should, subject_title
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

_MOST = 4
_CPU = "cpu.busy"
_NAMED_HOSTS = 2


@dataclass(frozen=True)
class KeyFigure:
    """A value in large type, and what it is."""

    value: str
    text: str


def key_figures(review: Review, signals: RecordedSignals) -> tuple[KeyFigure, ...]:
    """Up to four: the worst breach, processor time by role, a signal its rule says to look at, the next breach."""
    pair = _pair(review.phases)
    crossed = _one_per_signal(review.of(*CROSSED))
    cpu = list(_processors(review, signals, pair, _already_shown(crossed)))
    first = [_of_finding(finding, pair) for finding in crossed[:1]]
    look_at = list(_look_at(review, signals, crossed[0], pair)) if crossed else []
    near = _one_per_signal(
        (*review.of(Outcome.TOO_SHORT), *_closest(review)), but=(_CPU, *(finding.rule.signal for finding in crossed))
    )
    others = [_of_finding(finding, pair) for finding in (*crossed[1:], *near)]
    found = [*first, *cpu[:2], *look_at[:1], *others, *cpu[2:]]
    return tuple(figure for figure in found if figure is not None)[:_MOST]


def _pair(phases: Sequence[Phase]) -> Sequence[Phase]:
    """Two phases to compare: the longest and the one before it, or after it if it is the first."""
    if len(phases) < 2:
        return phases
    longest = max(range(len(phases)), key=lambda at: phases[at].end - phases[at].start)
    return phases[longest - 1 : longest + 1] if longest else phases[:2]


def _one_per_signal(findings: Sequence[Finding], but: Sequence[str] = ()) -> list[Finding]:
    seen = set(but)
    return [f for f in findings if f.rule.signal not in seen and not seen.add(f.rule.signal)]


def _closest(review: Review) -> list[Finding]:
    """Findings that held, the smallest margin first."""
    return sorted(
        (one for one in review.of(Outcome.HELD) if one.margin is not None and not one.signal.fact), key=nearness
    )


def _of_finding(finding: Finding, pair: Sequence[Phase]) -> KeyFigure | None:
    if finding.samples is None or not len(finding.samples.present.times):
        return None
    means, names = _by_phase([finding.samples], pair)
    if not pair or len(means) < len(pair):
        means, names = [finding.worst], ""
    what = f"mean in {names}" if names else extreme(finding)
    return KeyFigure(_values(means, finding.signal), f"{subject_title(finding)}, {what}; {should(finding)}")


def _already_shown(crossed: Sequence[Finding]) -> Subject | None:
    """The host whose processor time is already shown as the worst breach; None if it is not."""
    return crossed[0].subject if crossed and crossed[0].rule.signal == _CPU else None


def _processors(
    review: Review, signals: RecordedSignals, pair: Sequence[Phase], but: Subject | None
) -> Iterator[KeyFigure]:
    """The mean processor time of the hosts of each role, the busiest role first."""
    signal = review.question.signals.get(_CPU)
    roles: dict[str, dict[Subject, Samples]] = {}
    for subject, samples in (signals.of(_CPU) if signal else {}).items():
        if subject != but:
            roles.setdefault(_role(review, subject.host), {})[subject] = samples
    if signal is None:
        return
    found: list[tuple[float, KeyFigure]] = []
    for members in roles.values():
        means, names = _by_phase(list(members.values()), pair)
        if means:
            what = f"mean in {names}" if names else "mean"
            found.append(
                (max(means), KeyFigure(_values(means, signal), f"{signal.title} of {_hosts(members)}, {what}"))
            )
    for _, figure in sorted(found, key=lambda item: -item[0]):
        yield figure


def _role(review: Review, host: str) -> str:
    """The role of a host: the packs for its kind that were applied to it."""
    packs = (a.pack for a in review.applied if a.pack.applies_to and host_key(host) in map(host_key, a.hosts))
    return " ".join(sorted(pack.pack for pack in packs))


def _hosts(members: Mapping[Subject, Samples]) -> str:
    hosts = [subject.host for subject in members]
    return " and ".join(hosts) if len(hosts) <= _NAMED_HOSTS else f"{number(len(hosts))} hosts"


def _look_at(review: Review, signals: RecordedSignals, finding: Finding, pair: Sequence[Phase]) -> Iterator[KeyFigure]:
    for name in finding.rule.look_at:
        signal = review.question.signals.get(name)
        recorded = signals.on(name, finding.subject.host) if signal and finding.subject else {}
        if signal is None or not recorded or name == _CPU:
            continue
        sign = -1 if signal.worse == "lower" else 1
        subject, samples = max(recorded.items(), key=lambda item: sign * float(item[1].present.values.mean()))
        means, names = _by_phase([samples], pair)
        if means:
            what = f"mean in {names}" if names else "mean"
            yield KeyFigure(_values(means, signal), f"{signal.title} of {subject}, {what}")


def _by_phase(several: Sequence[Samples], pair: Sequence[Phase]) -> tuple[list[float], str]:
    """The mean of some series in each phase that has samples of them, and the names of those phases."""
    spans = [(phase.name, phase.start, phase.end) for phase in pair] or [("", None, None)]
    means: list[float] = []
    names: list[str] = []
    for name, start, end in spans:
        values = [samples.between(start, end).present.values for samples in several]
        filled = [float(one.mean()) for one in values if len(one)]
        if filled:
            means.append(float(np.mean(filled)))
            names.append(name)
    return means, " / ".join(names)


def _values(means: Sequence[float], signal: Signal) -> str:
    """`70 / 31 %`, in one multiple of the unit."""
    if len(means) == 1:
        return quantity(means[0], signal.unit)
    scale = scale_for(max(map(abs, means)), signal.unit)
    return f"{' / '.join(number(_rounded(mean * scale.factor)) for mean in means)} {scale.unit}".rstrip()


def _rounded(value: float) -> float:
    """Two significant digits, and whole numbers from 10 on."""
    return round(value) if abs(value) >= 10 else float(f"{value:.2g}")
