"""How the cases are judged: a result for each, the table of all, and docs/truth.md."""

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .case import Case, families, judged
from .contradictions import contradictions
from .peers import mixin, pal

PAGE = Path(__file__).parents[2] / "docs" / "truth.md"
KINDS = ("right", "wrong cause", "false healthy", "false alarm", "needless not known", "missed")
_HEAD = """\
# Verdicts and the truth

Recordings whose right verdict is known, judged in three ways: by Plimsoll; by *slices*, as PAL judges (the critical limits of
its threshold files, on the mean of each of 30 slices of a Windows log); and by *mixin*, the warnings and criticals of the
node-exporter mixin on a Linux log. An empty cell: that way is not made for such a recording, or no case had that result.

| | |
|---|---|
| right | the expected verdict, with the expected cause named |
| wrong cause | the expected verdict, another cause |
| false healthy | healthy, where it is not, or nobody can know |
| false alarm | not healthy, where it is not known to be |
| needless not known | not known, where it is healthy |
| missed | not known, where it is not healthy |

The expected verdicts were written before judging, and cases that were wrong themselves were corrected afterwards. So the table
shows that verdicts stay as they are; it does not say how often verdicts on other recordings are right. The cases are data in
[tests/verdicts](../tests/verdicts/README.md); `python -m tests.verdicts` judges them.

<!-- Generated from tests/verdicts by python -m tests.verdicts --write. -->
"""
_WORDS = {"healthy": "healthy", "not-healthy": "not healthy", "unknown": "not known", "refused": "refused", None: ""}


@dataclass(frozen=True)
class Result:
    """What was said of a case, by whom."""

    case: Case
    verdict: str
    text: str
    contradictions: list[str]
    pal: str | None
    mixin: str | None

    @property
    def lacks(self):
        """The words that should have been said, or should not."""
        case = self.case
        return [word for word in case.names if word not in self.text] + [
            f"not {word}" for word in case.never if word in self.text
        ]

    @property
    def kind(self):
        """What is wrong with it, if anything."""
        kind = _kind(self.case, self.verdict)
        return "wrong cause" if kind == "right" and self.lacks else kind


def _kind(case, verdict):
    if verdict == case.expect:
        return "right"
    if verdict in ("healthy", "not-healthy"):
        return "false healthy" if verdict == "healthy" else "false alarm"
    return "needless not known" if case.expect == "healthy" else "missed"


def result_of(case):
    """Judge a case in each way."""
    with tempfile.TemporaryDirectory() as folder:
        verdict, text, insights = judged(case, Path(folder))
        result = contradictions(insights, text) if insights else []
    return Result(case, verdict, text, result, pal(case), mixin(case))


def results(family):
    """Judge the cases of a family."""
    return [result_of(case) for case in families()[family]]


def row(name, family_results):
    """Return the row of a family in the first table."""
    ours = Counter(result.kind for result in family_results)
    cells = [len(family_results), *(ours[kind] or "" for kind in KINDS)]
    for way in ("pal", "mixin"):
        of_way = [(result.case, getattr(result, way)) for result in family_results]
        kinds = Counter(_kind(case, verdict) for case, verdict in of_way if verdict)
        cells += [kinds[kind] or (0 if kinds else "") for kind in ("right", "false healthy", "false alarm")]
    return f"| {name} | {' | '.join(map(str, cells))} |"


def section(name, family_results):
    """Return the part of the page on a family: a row for each case."""
    rows = [
        f"| {result.case.name} | {_WORDS[result.case.expect]} | {_output(result)} | {_WORDS[result.pal or result.mixin]} | "
        f"{result.case.why}{f' [Source]({result.case.source})' if result.case.source else ''} |"
        for result in family_results
    ]
    other = "slices" if any(result.pal for result in family_results) else "mixin"
    head = [f"## {name}", "", f"| case | right | Plimsoll | {other} | why |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def _output(result):
    kind = result.kind
    return _WORDS[result.verdict] if kind == "right" else f"**{_WORDS[result.verdict]}** ({kind})"


def page(by_family):
    """Return docs/truth.md."""
    heads = [
        "family",
        "cases",
        *KINDS,
        *(f"{way}: {kind}" for way in ("slices", "mixin") for kind in ("right", "false healthy", "false alarm")),
    ]
    item = [result for family_results in by_family.values() for result in family_results]
    table = [
        f"| {' | '.join(heads)} |",
        f"|---|{'---:|' * (len(heads) - 1)}",
        *(row(name, family_results) for name, family_results in by_family.items()),
        row("**all**", item),
    ]
    sections = [section(name, family_results) for name, family_results in by_family.items()]
    return "\n".join([_HEAD, *table, "", *sections])
