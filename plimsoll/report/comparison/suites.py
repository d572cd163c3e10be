"""The checks of a comparison for a build server."""

from collections.abc import Iterator, Sequence

from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.compared_signal import Compared, ComparisonOutcome
from plimsoll.comparison.doubts import list_doubts
from plimsoll.comparison.sentences import describe_move, format_title, name_place
from plimsoll.comparison.summary import Answer, answer, list_critical, tell_story
from plimsoll.model.document import DocumentCheck, Suite
from plimsoll.model.group_pairs import group_pairs
from plimsoll.report.comparison.tables import describe_result, format_cells


def build_suites(comparisons: Sequence[Comparison]) -> list[Suite]:
    """Build a suite for each compared run: a check of the answer, and a check of each signal on each host.

    The check of a signal fails if a critical signal became worse; it is skipped if there are too few samples to tell.
    """
    return [
        Suite(
            f"{comparison.second.name} compared with {comparison.first.name}",
            [_check_answer(comparison), *_list_checks(comparison)],
        )
        for comparison in comparisons
    ]


def _check_answer(comparison: Comparison) -> DocumentCheck:
    """Return the check of the answer: an error if unknown, failed if the run is worse and no other check says so."""
    result, name, sentences = answer(comparison), "the run is not worse", tell_story(comparison)
    output = tuple(sentences)
    if result == Answer.UNKNOWN:
        return DocumentCheck(
            "comparison", name, "error", "not-known", "; ".join(list_doubts(comparison)), output=output
        )
    if comparison.load.throughput_lost:
        return DocumentCheck("comparison", name, "failed", "throughput", sentences[0], output=output)
    if result == Answer.WORSE and not list_critical(comparison):
        return DocumentCheck("comparison", name, "failed", "worse", sentences[1], output=output)
    return DocumentCheck("comparison", name, output=output)


def _list_checks(comparison: Comparison) -> Iterator[DocumentCheck]:
    """Yield a check for each signal on each host: failed, skipped or passed."""
    groups = group_pairs(((signal.name, signal.subject.host), signal) for signal in comparison.judged)
    for (signal, host), signals in groups.items():
        group, name, output = signal.partition(".")[0], f"{signal} on {host}", tuple(map(_format_line, signals))
        failed = [
            compared
            for compared in signals
            if compared.outcome == ComparisonOutcome.REGRESSION and compared.treatment.critical
        ]
        if failed:
            message = f"{format_title(failed[0])} of {name_place(failed[0])} {describe_move(failed[0])}"
            yield DocumentCheck(group, name, "failed", "regression", message, tuple(map(_format_line, failed)), output)
        elif all(compared.outcome == ComparisonOutcome.UNCLEAR for compared in signals):
            yield DocumentCheck(group, name, "skipped", message="too few samples to tell", output=output)
        else:
            yield DocumentCheck(group, name, output=output)


def _format_line(compared: Compared) -> str:
    first, second, change, interval, effective = format_cells(compared)
    change = f" ({change})" if change else ""
    return (
        f"{name_place(compared)}: {describe_result(compared).lower()}: {first} to {second}{change}, difference "
        f"{interval} (95 %), {effective} independent samples"
    )
