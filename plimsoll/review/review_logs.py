"""Reviews logs by the packs of a catalogue and the plimsoll.toml of their run."""

from collections.abc import Sequence
from pathlib import Path

from plimsoll.hosts import settings
from plimsoll.hosts.facts import Facts, find_recorded_facts, list_contradictions
from plimsoll.hosts.objective import make_objective
from plimsoll.hosts.overrides import Overrides
from plimsoll.ingest.reading import LogSet
from plimsoll.ingest.recordings import refuse_unnamed
from plimsoll.ingest.shared.separate_runs import ChosenRecording, choose_recording
from plimsoll.model.errors import Unusable
from plimsoll.model.run import Phase, Run
from plimsoll.model.time_arguments import TimeRange, parse_steady_phases
from plimsoll.model.times import Zone
from plimsoll.review.findings import Question
from plimsoll.review.judged_resources import RESOURCES
from plimsoll.review.review import Review, review
from plimsoll.rules.load import Catalogue, load


def review_logs(
    recordings: LogSet,
    catalogue: Catalogue,
    run_settings: settings.Settings,
    path: Path | None,
    *,
    zone: Zone | None = None,
    steady: str | None = None,
    whole_run: bool = False,
    in_operation: bool = False,
    when: TimeRange | None = None,
) -> Review:
    """Judge logs by the packs of a catalogue and the settings of their run.

    Args:
        recordings: The logs.
        catalogue: The packs, and their signals.
        run_settings: The settings of the run.
        path: The file that the settings are from; None if there are no settings.
        zone: The zone of times in the settings, in `steady` and in `when`; by default the logs' own.
        steady: The steady state as given by the user; it replaces the phases of the run.
        whole_run: Judge rules for a phase over the whole run, even if phases are found.
        in_operation: The logs are of live hosts, not of a test.
        when: The part of the run to judge, by default all of it.

    Raises:
        Unusable: The logs or the settings cannot be used.
    """
    recordings.refuse_empty()
    chosen = ChosenRecording(recordings.logs) if when or in_operation else choose_recording(recordings.logs)
    recordings = recordings._replace(logs=chosen.logs, remarks=[*recordings.remarks, *chosen.remarks])
    refuse_unnamed(recordings.logs)
    # plimsoll.toml may also set rules and phases of shipped packs, for other reviews of these logs.
    goal = make_objective(run_settings.objective, recordings.logs)
    packs = (*catalogue.packs, goal) if goal else catalogue.packs
    signals = {**catalogue.signals, **goal.signals} if goal else catalogue.signals
    rules = {**load().rules, **catalogue.rules, **({rule.id: rule for rule in goal.rules} if goal else {})}
    described = run_settings.described_run()
    run: Run = recordings.run.run if recordings.run else described
    zone = zone or next((log.zone for log in recordings.logs if log.zone.is_specified), recordings.logs[0].zone)
    filled = [log for log in recordings.logs if len(log.times)]
    if not filled:
        paths = ", ".join(str(log.path) for log in recordings.logs)
        raise Unusable(f"{paths}: no samples; there is nothing to judge")
    start, end = min(int(log.times[0]) for log in filled), max(int(log.times[-1]) for log in filled)
    if steady is not None:
        phases: Sequence[Phase] = parse_steady_phases(steady, zone, start, end)
    else:
        phases = described.phases or run.phases
        settings.check_phases(path, phases, rules, zone, start, end)
    planned = run_settings.planned()
    settings.check_planned(path, planned, rules, zone, start, end)
    first, last = _find_part(when, zone, start, end) if when else (None, None)
    sets_rules = run_settings.rules or run_settings.groups or any(facts.rules for facts in run_settings.hosts.values())
    question = Question(
        packs,
        signals,
        phases,
        first,
        last,
        by_hand=catalogue.by_hand,
        overrides=run_settings.overrides(path, rules, signals) if path and sets_rules else Overrides(),
        drives=run_settings.drives(),
        expected_hosts=run_settings.named_hosts if recordings.whole else (),
        whole_run=whole_run or run_settings.run.whole_run,
        in_operation=in_operation,
        resources=run_settings.run.judge or (() if catalogue.chosen else tuple(RESOURCES)),
        apart=recordings.apart and not run_settings.run.hosts,
        planned=planned,
        scope=chosen.scope,
    )
    facts = Facts(run_settings.facts(), find_recorded_facts(recordings.logs))
    if wrong := [*list_contradictions(facts.configured, facts.recorded, recordings.logs)]:
        raise Unusable(*(f"{path}: {name}" for name in wrong))
    return review(recordings.logs, run, question, facts, recordings.remarks)


def _find_part(when: TimeRange, zone: Zone, start: int, end: int) -> tuple[int | None, int | None]:
    """Return the first and last instant to judge (UTC ns; None: no bound); raise Unusable if nothing was recorded."""
    first, last = when.resolve(zone, start, end)
    begin, finish = first or start, last or end
    if begin > finish or begin > end or finish < start:
        raise Unusable(
            f"nothing was recorded from {zone.clock(begin)} to {zone.clock(finish)}; "
            f"the logs reach from {zone.clock(start)} to {zone.clock(end)}"
        )
    return first, last
