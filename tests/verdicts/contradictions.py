"""Sentences and figures of one output that contradict each other, found in its JSON and in its document tree."""

import re
from collections import Counter, defaultdict

from plimsoll.comparison.compared_signal import ComparisonOutcome
from plimsoll.model.document import Paragraph, Section, plain_text
from plimsoll.report.comparison.document import TITLES, blocks
from plimsoll.report.comparison.json_document import document
from plimsoll.report.first_screen import first_screen
from plimsoll.report.json import ReviewDocument
from tests.insights import diagnosis

CROSSED = ("crossed", "often-crossed")
JUDGED = (*CROSSED, "held", "too-short")
UNCHANGED = [TITLES[outcome] for outcome in (ComparisonOutcome.SAME, ComparisonOutcome.WITHIN)]
ALL_ROOM = ("no resource came near", "Nothing that was recorded limits", "The load was too small")


def contradictions(insights):
    """Return what a review says in opposite ways."""
    review = ReviewDocument.model_validate(insights).model_dump(mode="json", by_alias=True)
    rules, sentences = review["rules"], [sentence["text"] for sentence in (review["limit"] or {}).get("sentences", ())]
    said = " ".join([review["headline"], *review["doubts"], *sentences])
    first = first_screen(insights)
    return [
        *diagnosis.contradictions(review),
        *_counts(review, rules),
        *_verdict(review, rules, f"{said} {first.cause}"),
        *_not_recorded(review, rules, said),
        *_predictions(review, rules),
        *(f"{row.text}: twice as evidence" for row, count in Counter(first.evidence).items() if count > 1),
        *_lists(review),
    ]


def _counts(review, rules):
    states, coverage = Counter(rule["state"] for rule in rules), review["coverage"]
    severities = Counter(rule["severity"] for rule in rules if rule["state"] in CROSSED)
    for name, count in review["counts"].items():
        if count != states[name] + severities[name]:
            yield f"{count} are said to be {name}; listed are {states[name] + severities[name]}"
    left = sum(group["count"] for group in coverage["unjudged"])
    if coverage["judged"] + left != coverage["thresholds"] or str(coverage["judged"] or "no") not in coverage["text"]:
        yield f"{coverage['text']}: {coverage['judged']} and {left} of {coverage['thresholds']}"
    for group in review["groups"]:
        crossed = [rule for rule in rules if rule["state"] in CROSSED and rule["rule"] in group["rules"]]
        if {rule["host"] for rule in crossed} != set(group["hosts"]) or {rule["rule"] for rule in crossed} != set(
            group["rules"]
        ):
            yield f"{group['sentence']} But crossed were {sorted({(rule['rule'], rule['host']) for rule in crossed})}"


def _verdict(review, rules, said):
    severe = [rule["rule"] for rule in rules if rule["state"] in CROSSED and rule["severity"] != "info"]
    right = "not-healthy" if severe else "unknown" if review["doubts"] else None
    if (right and review["verdict"] != right) or (review["verdict"] == "not-healthy" and not severe):
        yield f"{review['verdict']}: crossed {severe}, doubts {review['doubts']}"
    of_hosts = [rule for rule in severe if not rule.startswith("objective")]
    if of_hosts and any(words in said for words in ALL_ROOM):
        yield f"{said} But {of_hosts[0]} was crossed."
    if ALL_ROOM[0] in said and "processors of" in said and "limit this run" in said:
        yield said


def _not_recorded(review, rules, said):
    """Find what is said not to be recorded, and was."""
    recorded = {(statistic["host"], statistic["counter"]) for statistic in review["statistics"]}
    judged = {(rule["host"], rule["signal"]) for rule in rules if rule["state"] in JUDGED}
    for rule in rules:
        if (
            rule["state"] == "not-recorded"
            and (rule["host"], rule["signal"]) in judged
            and "not recorded" in (rule["reason"] or "")
        ):
            yield f"{rule['rule']} of {rule['host']}: {rule['reason']}, and {rule['signal']} was judged"
    titles = {rule["title"] for rule in rules if (rule["host"], rule["signal"]) in judged}
    for title in re.findall(r"([A-Z][\w ,%]+?) (?:was|were) not recorded", said):
        if title in titles:
            yield f"{title} was not recorded, and was judged"
    for path in re.findall(r"record (\S+\(\*\)\\[^.;,]+)", said):
        if any(counter.endswith(path.split("\\", 1)[1]) and path.split("(")[0] in counter for _, counter in recorded):
            yield f"record {path}: it was"


def _predictions(review, rules):
    ends = defaultdict(list)
    for rule in rules:
        ends[rule["signal"], rule["host"], rule["instance"], rule["threshold"]["limit"]] += [
            breach["end"] for breach in rule["breaches"]
        ]
    ways = defaultdict(set)
    for trend in review["trends"]:
        key = trend["signal"], trend["host"], trend["instance"]
        ways[key].add(trend["movement"])
        if trend["reaches_limit_s"] is not None and any(
            end >= review["log"]["end"] for end in ends[*key, trend["limit"]]
        ):
            yield f"{trend['sentence']} But it is past it."
        if "no trend in" in trend["sentence"] and not trend["per_hour_low"] <= 0 <= trend["per_hour_high"]:
            yield f"{trend['sentence']} But it moves."
    yield from (f"{key}: {sorted(of_key)}" for key, of_key in ways.items() if {"rises", "falls"} <= of_key)


def _lists(review):
    """Find what is said to have room, and is near its limit in another sentence."""
    lists = defaultdict(set)
    for sentence in (review["limit"] or {}).get("sentences", ()):
        kind = "room" if sentence["text"].startswith(diagnosis.WITHIN) else "short"
        for figure in sentence["figures"]:
            if figure["limit"] is not None:
                lists[figure["signal"], figure["host"], figure["instance"], figure["limit"], figure["value"]].add(kind)
    yield from (f"{key}: has room, and has none" for key, kinds in lists.items() if len(kinds) > 1)


def of_comparison(comparison):
    """Return what a comparison says in opposite ways: counts, lists, and what was not recorded."""
    whole = document([comparison]).model_dump(mode="json", by_alias=True)["comparisons"][0]
    judged = [signal for signal in whole["signals"] if signal["phase"] == whole["phase"]]
    outcomes = Counter(signal["outcome"] for signal in judged)
    found = [
        f"{count} {name}; listed are {outcomes[name]}"
        for name, count in whole["counts"].items()
        if count != outcomes[name]
    ]
    once = Counter()
    for name in ("only_baseline", "only_other", "both"):
        once.update(
            {(rule["signal"], rule["host"], rule["instance"], rule["rule"]) for rule in whole["thresholds"][name]}
        )
    found += [f"{rule} of {host}: in two lists" for (_, host, _, rule), count in once.items() if count > 1]
    titles = {signal["title"] for signal in judged if signal["limit_crossed_in"]}
    for section in (block for block in blocks(comparison) if isinstance(block, Section) and block.title in UNCHANGED):
        listed = " ".join(plain_text(part.text) for part in section.blocks if isinstance(part, Paragraph))
        found += [
            f"{section.title}: {title}, past its limit in one alone"
            for title in titles
            if f", {title}, " in f", {listed}, "
        ]
    return found
