"""The reasons to doubt that a run is not worse, although nothing shows that it is worse."""

import re
from collections.abc import Iterator
from functools import partial

from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.compared_signal import PERHAPS, Compared, ComparisonOutcome
from plimsoll.comparison.counters import Counter
from plimsoll.comparison.crossings import find_surprises
from plimsoll.comparison.distribution_changes import is_gathered
from plimsoll.comparison.sentences import describe_distribution_change, describe_move, format_title, name_place
from plimsoll.comparison.signal_pairs import Lone, Proposal
from plimsoll.insights.insights import News, SubjectKey, load_insights
from plimsoll.model.remark import format_count, join_names
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND, format_duration
from plimsoll.model.value_text import number
from plimsoll.review.doubts import compute_long_absence
from plimsoll.review.review import Review
from plimsoll.review.sentences import describe_breach

# Our choices, shares of the baseline: below the first it is said, below the second nothing can be said.
_SHORT = 0.5
_TOO_SHORT = 0.25
_MOST_NAMED = 3
_MOST_COUNTERS = 2
# Times the load: beyond, what an operation costs is not known to be the same; and what waits may have been spared.
_MUCH_MORE, _LITTLE_LESS = 1.5, 0.8
_OPERATIONS = "client.operation_requests"
_NEGLIGIBLE = 0.01  # of all requests of a run: an operation of fewer may be missing by chance; our choice


def list_doubts(comparison: Comparison) -> list[str]:
    """Return clauses that say why the answer is not known although no signal became worse."""
    kinds = (
        list_lone_operations,
        _load_doubts,
        _doubt_other_load,
        _doubt_length_and_limits,
        _doubt_lacking,
        _doubt_new_doubts,
        _doubt_surprises,
        find_hidden_changes,
        _doubt_unclear,
    )
    return [clause for kind in kinds for clause in kind(comparison)]


def _load_doubts(comparison: Comparison) -> Iterator[str]:
    """Yield doubts about the load: not recorded, not the same, or connections that piled up."""
    compared = comparison.load.first
    if compared is None and (compareds := comparison.of(ComparisonOutcome.LOAD)):
        names = join_names(list(dict.fromkeys(format_title(compared) for compared in compareds)), _MOST_NAMED)
        yield f"no load was recorded in both runs, and another load may be why these differ: {names}"
    load = comparison.load
    # Bytes vary by themselves: they raise a doubt only if they would explain a difference.
    only_bytes = compared is not None and not compared.signal.load and load.is_same is None
    only_bytes = only_bytes and not comparison.of(ComparisonOutcome.LOAD)
    differs = not load.is_same and not load.throughput_lost and not load.regained and not only_bytes
    if compared is not None and differs and (reason := find_load_doubt(comparison)):
        same = "the load was not the same" if load.is_same is False else "the load may not have been the same"
        yield f"{same}: {format_title(compared)} {describe_move(compared)}; {reason}"
    if piled := load.piled_up:
        yield f"far more were open for as much work, as if they piled up: {format_title(piled)} {describe_move(piled)}"


def list_lone_operations(comparison: Comparison) -> list[str]:
    """Return clauses on operations that a load driver requested in one run alone, unless they were negligible.

    A run of a single operation has no requests by operation.
    """
    sides = (comparison.first, comparison.second)
    counts = [
        {subject: of.present.values.sum() for subject, of in side.review.signals.of(_OPERATIONS).items()}
        for side in sides
    ]
    clauses: list[str] = []
    for at, (side, lones) in enumerate(zip(sides, comparison.lone, strict=True)):
        alone = {(lone.host, name) for lone in lones if lone.name == _OPERATIONS for name in lone.instances}
        least = _NEGLIGIBLE * sum(counts[at].values())
        lone = {
            subject.instance
            for subject, count in counts[at].items()
            if count >= least and (subject.host, subject.instance) in alone
        }
        if names := join_names(sorted(filter(None, lone)), _MOST_NAMED):
            clauses.append(
                f"{side.called} alone "
                + (f"requested {names}" if counts[1 - at] else f"has requests by operation ({names})")
            )
    return clauses


def _doubt_other_load(comparison: Comparison) -> Iterator[str]:
    """Yield a doubt if the second run alone went on for long with another load after the steady phase."""
    before, after = (side.review.phases_found for side in (comparison.first, comparison.second))
    review = comparison.second.review
    long = compute_long_absence((review.end or 0) - (review.start or 0))
    if after and after.other > long and not (before and before.other):
        lasts = format_duration(round(after.other / SECOND) * SECOND)
        yield f"{comparison.second.called} went on for {lasts} with another load, which is not compared"


def find_load_doubt(comparison: Comparison) -> str:
    """Return why another load leaves the answer open, and what to do; empty if the cost of an operation decides it.

    It does if the load is up to half higher, or perhaps a little lower, and nothing waited longer at a resource that
    the load would saturate: waiting times can then be predicted from the utilisation.
    """
    ratios = comparison.load.ratios
    lowest = 1.0 if comparison.load.is_same is False else _LITTLE_LESS
    costs = [compared for compared in comparison.judged if compared.treatment.is_cost]
    reason = ""
    if not ratios or min(ratios) < lowest:
        reason = "a lower load may hide what became worse"
    elif max(ratios) > _MUCH_MORE:
        reason = "what an operation costs may be another at a load so much higher"
    elif not costs:
        reason = "no processor time was recorded to compare for each operation"
    elif imprecise := next(filter(_is_imprecise, costs), None):
        reason = (
            f"{format_title(imprecise)} of {name_place(imprecise)} has too few samples to compare for each operation"
        )
    elif waiting := _find_longer_wait(comparison):
        reason = f"it may be too much for a resource, so {waiting} may come from it"
    return f"{reason}: compare runs of equal load" if reason else ""


def _find_longer_wait(comparison: Comparison) -> str:
    """Return what waited longer, as the load lets expect, where it saturates a resource; empty if nothing did.

    What waits for the resource itself tells most; where none of it was recorded, all that waits does.
    """
    full = comparison.effect(comparison.phase).saturated
    waits = [c for c in comparison.judged if c.treatment.critical and c.treatment.load in ("waiting", "queue")]
    waits = [c for c in waits if c.other.key in full] or waits
    longer = [c for c in waits if c.outcome == ComparisonOutcome.LOAD and c.difference.value > 0]
    if full and not waits:
        return "longer waits, which were not recorded,"
    return next((f"{format_title(compared)} of {name_place(compared)}" for compared in longer if full), "")


def _is_imprecise(compared: Compared) -> bool:
    """Return whether there are too few samples to tell whether a signal differs by more than its tolerance."""
    return compared.outcome == ComparisonOutcome.UNCLEAR and compared.precision > compared.tolerated


def _doubt_length_and_limits(comparison: Comparison) -> Iterator[str]:
    """Yield doubts if too little of the second run is compared, or it crossed limits not judged in the first run."""
    text, is_too_short = describe_length(comparison)
    if is_too_short:
        yield f"{text}, too little to compare"
    findings = [finding for finding in comparison.thresholds.unjudged if finding in comparison.second.review.findings]
    if findings:
        yield f"{comparison.second.called} crossed what could not be judged in {comparison.first.called}: " + (
            join_names([finding.signal.title for finding in findings], _MOST_NAMED)
        )


def _doubt_surprises(comparison: Comparison) -> Iterator[str]:
    """Yield a clause on critical limits that the second run crossed briefly, and that the baseline was far from."""
    if findings := find_surprises(comparison):
        text = f", and {format_count(len(findings) - 1, 'more critical limit')}" if len(findings) > 1 else ""
        yield f"in {comparison.second.called} {describe_breach(findings[0]).removesuffix('.')}{text}"


def find_suspects(comparison: Comparison) -> list[Compared]:
    """Return the critical signals that are uncertainly worse, if likely so or past a limit in the second run alone."""
    differing = comparison.of(ComparisonOutcome.SPREAD, ComparisonOutcome.UNCLEAR)
    worse = [compared for compared in differing if compared.treatment.critical and compared.is_worse]
    likely = [compared for compared in worse if compared.is_outside and compared.chance < PERHAPS]
    return [c for c in worse if c in likely or is_gathered(c) or c.crossed_in == "other"]


def find_new_troubles(comparison: Comparison) -> list[News]:
    """Return the harmful facts from insights, such as a leak, that only the second run shows."""
    hosts = comparison.hosts

    def as_in_first(key: SubjectKey) -> SubjectKey:
        return hosts.in_first(key) if key[0] in hosts.first_of else key

    return [
        new
        for insight in load_insights()
        if insight.news
        for new in insight.news(
            partial(comparison.first.insights.of, insight), comparison.second.insights.of(insight), as_in_first
        )
    ]


def find_hidden_changes(comparison: Comparison) -> list[str]:
    """Return clauses on critical signals or loads with more noise, and on counters that are worse by their names."""
    better = comparison.of(ComparisonOutcome.IMPROVEMENT)  # what is far from its limit now may well vary more
    reshapeds = [reshaped for reshaped in comparison.reshaped if reshaped.compared not in better]
    noisy = [(reshaped, reshaped.compared.treatment) for reshaped in reshapeds if reshaped.shape == "noise"]
    grown = [reshaped for reshaped, treatment in noisy if treatment.critical or treatment.shape == "noise"]
    clauses = [describe_distribution_change(reshaped) for reshaped in grown[:1]]
    if costs := comparison.unassigned_counters.costs:
        names = ", ".join(describe_counter(cost) for cost in costs[:_MOST_COUNTERS])
        rest = len(costs) - _MOST_COUNTERS
        also = f", and {rest:,} more" if rest > 0 else ""
        clauses.append(f"counters without a signal became worse by their names: {names}{also}")
    return clauses


def describe_counter(counter: Counter) -> str:
    r"""Return the change of a counter: `\App(_Total)\Response Time of WEB1 rose from 12 to 36`."""
    verb = "rose" if counter.after > counter.before else "fell"
    of = "the peaks of " if counter.peaks else "the increase of " if counter.grows else ""
    return f"{of}{counter.label} {verb} from {number(counter.before)} to {number(counter.after)}"


def describe_not_compared(comparison: Comparison) -> str:
    """Return how many counters without a signal were compared, how many not, and why; empty without counters."""
    counters = comparison.unassigned_counters
    texts = [
        f"{format_count(count, 'counter')} {why}"
        for count, why in (
            (counters.constant, "constant in both runs"),
            (counters.too_few, "with too few samples"),
            (len(counters.only_first), f"only in {comparison.first.called}"),
            (len(counters.only_second), f"only in {comparison.second.called}"),
        )
        if count
    ]
    if not texts and not counters.compared:
        return ""
    rest = f"; not compared: {', '.join(texts)}" if texts else ""
    return f"{format_count(counters.compared, 'counter')} without a signal compared{rest}."


def describe_proposal(comparison: Comparison, proposal: Proposal) -> str:
    """Return a clause on a proposal and its setting: `“1 D:” of a looks like “2 D:” of b (SQL1); if it is, …`."""
    second = f"{comparison.second.called} ({proposal.host})" if proposal.host else comparison.second.called
    return (
        f"“{proposal.first}” of {comparison.first.called} looks like “{proposal.second}” of {second}; "
        f"if it is, write {proposal.setting} under [compare.renamed] in plimsoll.toml"
    )


def _doubt_lacking(comparison: Comparison) -> Iterator[str]:
    """Yield clauses on signals and hosts that the second run, or both runs, should have recorded but did not."""
    sides, signals = (comparison.first, comparison.second), comparison.first.review.question.signals
    for side, other, alone in zip(sides[::-1], sides, comparison.hosts.alone, strict=True):
        if alone:
            yield f"{side.called} has no host that belongs to {join_names(alone, _MOST_NAMED)} of {other.called}"
    for proposal in comparison.proposals:
        if proposal.host and any(comparison.treatments.of(name, signals[name]).critical for name in proposal.signals):
            yield f"what has another name is not compared: {describe_proposal(comparison, proposal)}"
            break
    compared_names = {compared.name for compared in comparison.judged}
    if lacking := [name for name in comparison.treatments.needed if name not in compared_names]:
        yield f"{join_names(lacking, _MOST_NAMED)} must be recorded in both runs, and is not"
    lost = dict.fromkeys(lone.signal.title for lone in comparison.lone[0] if lone.signal.load == "operations")
    if lost:
        yield (
            f"{comparison.second.called} does not record the work that was done: {join_names(list(lost), _MOST_NAMED)}"
        )
    recorded = {
        (make_host_key(compared.subject.host), sort)
        for compared in comparison.judged
        for sort in _list_topics(comparison, compared)
    }
    names = dict.fromkeys(
        f"{lone.signal.title} of {lone.host}"
        for lone in comparison.lone[0]
        if comparison.treatments.of(lone.name, lone.signal).critical
        and any((make_host_key(lone.host), sort) not in recorded for sort in _list_topics(comparison, lone))
    )
    if names:
        yield f"{comparison.second.called} does not record {join_names(list(names), _MOST_NAMED)}"


def _list_topics(comparison: Comparison, recorded: Compared | Lone) -> Iterator[object]:
    """Yield the topics of a signal: its resource, and its kind if primary. An answer needs a signal for each topic."""
    treatment = comparison.treatments.of(recorded.name, recorded.signal)
    yield from (sort for sort in (recorded.signal.resource, treatment.primary_kind) if sort is not None)


def _doubt_new_doubts(comparison: Comparison) -> Iterator[str]:
    """Yield the doubts about the second run, such as an interruption or failures, that the first run has not."""

    def list_reasons(review: Review) -> list[tuple[str, str]]:
        """Return the doubts about a run, each without numbers and durations (to compare runs) and with them."""
        doubts = (*review.request_doubts, *review.interruptions, *review.partly_recorded)
        varies = re.compile(r"\d[\d.,:]*(?: (?:ms|s|min|h)\b)?")
        return [(" ".join(varies.sub("", doubt.reason).split()), doubt.reason) for doubt in doubts]

    before = dict(list_reasons(comparison.first.review))
    of_second = [text for kind, text in list_reasons(comparison.second.review) if kind not in before]
    yield from (f"in {comparison.second.called} {text}" for text in dict.fromkeys(of_second))


def _doubt_unclear(comparison: Comparison) -> Iterator[str]:
    """Yield doubts about critical signals: too few samples, none recorded, new trends, or uncertain differences."""
    critical = [compared for compared in comparison.judged if compared.treatment.critical]
    watched = [compared for compared in critical if compared.treatment.primary] or critical
    unclear = [compared for compared in watched if _is_imprecise(compared)]
    needed = [
        compared for compared in critical if compared.treatment.needed and compared.outcome == ComparisonOutcome.UNCLEAR
    ]
    if needed:
        yield f"there are too few samples to tell whether {format_title(needed[0])} of {name_place(needed[0])} differs"
    elif not watched:
        yield "no signal of which one direction is worse is recorded in both runs"
    elif new := find_new_troubles(comparison):
        titles = dict.fromkeys(news.title for news in new)
        yield f"{comparison.second.called} has a trend that must not be: {join_names(list(titles), _MOST_NAMED)}"
        if failing := [suspect for suspect in find_suspects(comparison) if suspect.treatment.shape == "failures"]:
            yield _describe_possible(failing)
    elif unsure := find_suspects(comparison):
        yield _describe_possible(unsure)
    elif 2 * len(unclear) > len(watched):
        titles = dict.fromkeys(map(format_title, unclear))
        names = join_names(list(titles), _MOST_NAMED)
        yield f"too few samples: record for longer to tell whether these differ: {names}"


def _describe_possible(unsure: list[Compared]) -> str:
    titles = dict.fromkeys(format_title(compared) for compared in unsure)
    return f"it may be chance, or not, that it is worse: {join_names(list(titles), _MOST_NAMED)}"


def describe_length(comparison: Comparison) -> tuple[str, bool]:
    """Return a clause and whether the compared part of the second run is too short for an answer.

    The clause says that much less of the second run is compared than of the first; it is empty otherwise.
    """
    runs = [(side.review.end or 0) - (side.review.start or 0) for side in (comparison.first, comparison.second)]
    phases = comparison.phase.first, comparison.phase.second
    first, second = (phase.end - phase.start if phase else run for phase, run in zip(phases, runs, strict=True))
    shares = [after / before if before else 1.0 for before, after in ((first, second), runs)]
    if shares[0] >= _SHORT and max(shares) >= _TOO_SHORT:
        return "", False
    of = f" of {comparison.phase.name} phase" if comparison.phase.first else ""
    text = (
        f"{comparison.second.called} has {format_duration(second)}{of}, {comparison.first.called} "
        f"{format_duration(first)}"
    )
    return text, max(shares) < _TOO_SHORT
