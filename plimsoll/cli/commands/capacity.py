"""`plimsoll capacity`."""

import json as json_module
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from plimsoll.api.inputs import RUN, Inputs
from plimsoll.api.run_review import Options, review_inputs
from plimsoll.cli.console import print_line, print_lines, print_remarks, width
from plimsoll.cli.outputs import STDOUT, refuse_overwriting, write_json, write_text
from plimsoll.hosts.objective import time_limits
from plimsoll.insights.capacity.changes import Changes, parse_change
from plimsoll.insights.capacity.document import blocks, page
from plimsoll.insights.capacity.find import capacity
from plimsoll.insights.capacity.forecast import Growth, asked, forecast
from plimsoll.insights.capacity.json import asked_json, document, growth_json
from plimsoll.insights.capacity.profiles import words as profile_words
from plimsoll.insights.capacity.profiles.documented import documented
from plimsoll.insights.capacity.profiles.profile import Profile, load_profile
from plimsoll.insights.capacity.words import asked_sentences, growth_sentence
from plimsoll.model.document import Block, Verdict
from plimsoll.model.errors import Unusable
from plimsoll.report.render.terminal import render_lines


@dataclass(frozen=True)
class Question:
    """What is asked, as typed: `users` at work, of which there are `peak_factor` times as many at the peak."""

    profile: str | None = None
    users: float | None = None
    peak_factor: float = 1.0
    objectives: Sequence[str] = field(default_factory=tuple[str, ...])
    growth: str | None = None
    what_if: Sequence[str] = ()
    without: Sequence[str] = ()


def run(inputs: Inputs, options: Options, question: Question, json: Path | None, out: Path | None) -> None:
    """Print how much load a system can carry."""
    if out == STDOUT:
        raise Unusable("--out - is not supported: name a file, it is written as a whole or not at all")
    profile, variant = load_profile(question.profile) if question.profile else (None, "")
    if not inputs.sources:
        if out is not None:
            raise Unusable("--out needs the logs of a run")
        _show(*_documented(profile, variant, question), json)
        return
    try:
        objectives = time_limits(question.objectives)
    except ValueError as error:
        raise Unusable(f"--objective: {error}") from None
    growth = Growth.parse(question.growth) if question.growth else None
    changes = Changes(dict(parse_change(one) for one in question.what_if), question.without)
    reviews = [review_inputs(one, options) for one in runs(inputs)]
    for review in reviews:
        refuse_overwriting(review.logs, out, json, also_read=inputs.names)
    found = capacity(reviews, profile, objectives, changes)
    written = document(found)
    forecasts: tuple[str, ...] = ()
    users = question.users or (profile.users if profile else None)
    if users is not None:
        needs = asked(found, users, question.peak_factor)
        written["asked"] = asked_json(found, needs)
        forecasts = asked_sentences(found, needs)
    if growth is not None:
        if users is None:
            raise Unusable("--growth needs the users of today: --users")
        ahead = forecast(found, growth, users * question.peak_factor, datetime.now().astimezone().date())
        written["growth"] = growth_json(ahead)
        forecasts = growth_sentence(ahead), *forecasts
    if out is not None:
        from plimsoll.report.render.html import render_page  # noqa: PLC0415  only the HTML report needs jinja2

        write_text(out, render_page(page(found, reviews, forecasts)))
    _show(written, blocks(found, forecasts), json)
    if out is not None and json != STDOUT:
        print_line()
        print_line(f"Report: {out}")
    for review in reviews:
        print_remarks(review.remarks)


def _documented(
    profile: Profile | None, variant: str, question: Question
) -> tuple[dict[str, Any], Iterable[Block | Verdict]]:
    """What the costs of a profile alone tell."""
    if profile is None:
        raise Unusable("name the logs of a run, or a profile with costs: --profile")
    if not profile.costs:
        raise Unusable(f"{question.profile}: has no costs: name the logs of a run, too")
    if question.objectives or question.growth or question.what_if or question.without:
        raise Unusable("--objective, --growth, --what-if and --without need the logs of a run")
    users = question.users or profile.users
    found = documented(profile, variant, users * question.peak_factor if users else None)
    return profile_words.document(found), profile_words.blocks(found)


def _show(written: Mapping[str, Any], shown: Iterable[Block | Verdict], json: Path | None) -> None:
    if json is not None:
        write_json(json, json_module.dumps(written, ensure_ascii=False, indent=2))
    if json != STDOUT:
        print_lines(render_lines(shown, width()))


def runs(inputs: Inputs) -> Sequence[Inputs]:
    """The runs that are named: each folder and each run of a store is one; files together are one."""
    whole = [one for one in inputs.sources if one.startswith(RUN) or Path(one).is_dir()]
    files = tuple(one for one in inputs.sources if one not in whole)
    if files or len(whole) < 2:
        return (inputs,)
    return [replace(inputs, sources=(one,)) for one in whole]
