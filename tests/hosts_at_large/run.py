"""Tries every host, or those whose name holds the words given: `python -m tests.hosts_at_large.run [WORDS]`."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from plimsoll.api.inputs import Inputs
from plimsoll.api.review import ReviewSettings, review_inputs
from plimsoll.insights.bottleneck.insight import INSIGHT as BOTTLENECK
from plimsoll.insights.bottleneck.json import LimitPart
from plimsoll.insights.insights import Insights
from plimsoll.model.errors import Unusable
from plimsoll.report.json import RulePart
from plimsoll.review.findings import Outcome
from tests.insights.diagnosis import contradictions

from .linux import hosts
from .recording import Host
from .shapes import shapes
from .windows import instances, resources

JUDGED = (Outcome.CROSSED, Outcome.OFTEN, Outcome.TOO_SHORT, Outcome.WITHIN)


def everyone() -> list[Host]:
    """All hosts."""
    return [*resources(), *instances(), *shapes(), *hosts()]


def reviewed(host: Host, folder: Path) -> dict[str, Any]:
    """What the JSON of the review of a host has of its verdict, of what limits it, and of the rules that were judged."""
    try:
        insights = Insights(review_inputs(Inputs((str(host.write(folder)),)), ReviewSettings()))
    except Unusable as error:
        return {"verdict": "failed", "headline": str(error)}
    review, limit = insights.review, LimitPart.model_validate(insights.of(BOTTLENECK))
    rules = [RulePart.model_validate(finding) for finding in review.findings if finding.outcome in JUDGED]
    return {
        "verdict": review.verdict.value,
        "headline": review.headline,
        "limit": limit and limit.model_dump(mode="json", by_alias=True),
        "rules": [rule.model_dump(mode="json", by_alias=True) for rule in rules],
    }


def main() -> None:
    """Print the hosts that are judged otherwise."""
    chosen = [item for item in everyone() if all(word in item.name for word in sys.argv[1:])]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, host in enumerate(chosen):
            result = reviewed(host, Path(folder) / str(number))
            if result["verdict"] != host.verdict or host.needs not in str(result["headline"]):
                wrong += 1
                print(f"{host.name}: {result['verdict']}\n    {result['headline']}", flush=True)
            for contradiction in contradictions(result):
                print(f"{host.name}: {contradiction}", flush=True)
    print(f"{wrong} of {len(chosen)} wrong")


if __name__ == "__main__":
    main()
