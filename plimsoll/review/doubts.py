"""Doubts: reasons for the verdict Not known on a run without a crossed limit; a single doubt suffices."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath

from plimsoll.hosts.objective import PACK as OBJECTIVE
from plimsoll.model.counter_names.unrecognised import Unrecognised
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remark, capitalize, format_count, join_names
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND, format_duration
from plimsoll.review.findings import JUDGED, Doubt, Finding, Outcome
from plimsoll.review.recording.impossible import BadCounter
from plimsoll.review.sentences import describe_breach, describe_counting, format_subject_title, format_worst, limit_of
from plimsoll.rules.evaluations import RuleEvaluation
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.states import EVALUATION_INTERVAL, Truth
from plimsoll.rules.subjects import Subject
from plimsoll.rules.wording import format_limit

_MOST_LACKING = 2
_WITH_VALUES = (*JUDGED, Outcome.NO_DATA, Outcome.TOO_SHORT)
IsRecorded = Callable[[str, str], bool]
Clock = Callable[[int], str]  # the time of an instant (UTC ns) as text
_MOST_NAMED = 3
_SIDES = {"lower": "below", "higher": "above", "either": "off"}
# Our choices. A gap of an hour or more may be a night, and crossings before and after it separate troubles; live, a
# series without samples for an hour is no longer judged either.
_LONGEST_GAP = 3600 * SECOND
SHORTEST_ABSENCE = 300 * SECOND  # most thresholds count once they are crossed for five minutes
LEAST_SHARE_ABSENT = 0.1  # of the run, which is long in one of a few hours
_LONG_ABSENCE, _LONG_SHARE = 1800 * SECOND, 0.02  # in one of a day or a week
PAUSE = 2.5  # intervals
_NEEDED = ("cpu", "memory", "disk")
_UNRECORDED = (Outcome.NOT_RECORDED, Outcome.DOES_NOT_APPLY, Outcome.OFF)


def compute_long_absence(of: int) -> float:
    """Return how long (ns) data may be missing in a run of the length `of` (ns) before the verdict is Not known."""
    long = max(_LONG_ABSENCE, _LONG_SHARE * of)
    return max(SHORTEST_ABSENCE, min(LEAST_SHARE_ABSENT * of, long))


def join_doubts(doubts: Sequence[Doubt]) -> str:
    """Return the doubts as sentences to follow a colon: the first begins in lower case, the rest with capitals."""
    first, *items = [doubt.sentence for doubt in doubts]
    return " ".join([first, *map(capitalize, items)])


def doubt_unread(remarks: Iterable[Remark]) -> Iterator[Doubt]:
    """Yield doubts about recordings that could not be read, wholly or in part, and stored runs with missing values."""
    remarks = list(remarks)
    for kind, part in ((Kind.UNREAD, ""), (Kind.CUT, "a part of ")):
        not_read = [remark for remark in remarks if remark.kind == kind]
        yield from (Doubt(remark.text) for remark in not_read if not remark.file)
        names = list(dict.fromkeys(PurePath(remark.file).name for remark in not_read if remark.file))
        if names:
            which = (
                names[0]
                if len(names) == 1
                else f"{format_count(len(names), 'recording')} ({join_names(names, _MOST_NAMED)})"
            )
            text = f"{part}{which} could not be read"
            same = len({remark.text for remark in not_read}) == 1
            yield Doubt(f"{text} ({not_read[0].text})") if same else Doubt(text, "see the remarks")


def doubt_contradictions(remarks: Iterable[Remark]) -> Iterator[Doubt]:
    """Yield a doubt if recordings contain different values of one host for the same times."""
    items = [remark for remark in remarks if remark.kind == Kind.CONTRADICTORY]
    names = list(dict.fromkeys(PurePath(remark.file).name for remark in items if remark.file))
    result = "values for the same time contradict each other in"
    if len(items) == 1:
        of = f"{items[0].counter}: " if items[0].counter else ""
        yield Doubt(f"{result} {join_names(names, 1)}: {of}{items[0].text}")
    elif items:
        yield Doubt(
            f"{result} {format_count(len(names), 'recording')} ({join_names(names, _MOST_NAMED)})", "see the remarks"
        )


def doubt_missing_hosts(hosts: Sequence[str]) -> Iterator[Doubt]:
    """Yield a doubt if plimsoll.toml names hosts that no log contains."""
    if hosts:
        which = (
            hosts[0] if len(hosts) == 1 else f"{format_count(len(hosts), 'host')} ({join_names(hosts, _MOST_NAMED)})"
        )
        yield Doubt(f"no log has {which}, which plimsoll.toml names")


def doubt_missing_instances(instances: Sequence[Subject]) -> Iterator[Doubt]:
    """Yield a doubt if plimsoll.toml names instances of recorded hosts that no log contains."""
    if instances:
        names = [f'"{instance.instance}" of {instance.host}' for instance in instances]
        yield Doubt(f"no log has {join_names(names, _MOST_NAMED)}, which plimsoll.toml names")


def doubt_bad_values(bad_counters: Sequence[BadCounter]) -> Iterator[Doubt]:
    """Yield a doubt if the values of counters cannot be used."""
    if bad_counters:
        text = f", and so with {format_count(len(bad_counters) - 1, 'more counter')}" if len(bad_counters) > 1 else ""
        yield Doubt(f"values of {bad_counters[0].counter} {bad_counters[0].why}{text}", "see the remarks")


def doubt_unrecognised_names(unrecogniseds: Sequence[Unrecognised]) -> Iterator[Doubt]:
    """Yield a doubt if counters with unknown names may be the counters that rules lack."""
    if unrecogniseds:
        count = sum(unrecognised.counters for unrecognised in unrecogniseds)
        paths = list(dict.fromkeys(path for unrecognised in unrecogniseds for path in unrecognised.paths))
        lie = f"{'lies' if count == 1 else 'lie'} under {'a name' if len(paths) == 1 else 'names'}"
        names = join_names(paths, _MOST_NAMED)
        yield Doubt(
            f"{format_count(count, 'counter')} ({names}) {lie} that Plimsoll does not know", f"see {Parameter.NAMES}"
        )


def doubt_undecided(findings: Iterable[Finding]) -> Iterator[Doubt]:
    """Yield a doubt about thresholds crossed in a recording that is too short to tell whether the crossing counts."""
    items = [finding for finding in findings if finding.severe and finding.undecided]
    if items:
        which = "a threshold that was" if len(items) == 1 else f"{len(items):,} thresholds that were"
        longest = max(items, key=lambda finding: finding.time_crossed)
        first, counts = describe_breach(longest).removesuffix("."), describe_counting(longest)
        text = f"the recording is too short to judge {which} crossed in it: {first}, and {counts}"
        yield Doubt(text, about=longest)


def doubt_unfinished(findings: Iterable[Finding], end: int | None, ramp_down: int | None = None) -> Iterator[Doubt]:
    """Yield doubts about signals that were past a limit when the samples of their host ended.

    A crossing is doubtful if the run went on afterwards, until `end` (UTC ns), for longer than a crossing must last to
    count, or if the crossing had lasted for more than half of that time. Of several limits of a signal, only the limit
    crossed for longest gives a doubt. Warnings that began after `ramp_down` (UTC ns), when the load began to fall, are
    left out.
    """
    entries: dict[tuple[str, Subject], tuple[int, Doubt]] = {}
    for finding in findings:
        crossing = finding.unfinished if finding.severe and not finding.undecided else None
        if end is None or crossing is None or not finding.track:
            continue
        limit, unit = finding.track.healthy, finding.signal.unit
        stood = (
            f"{format_subject_title(finding)} stood {_SIDES[limit.worse]} its limit of "
            f"{format_limit(limit.limit, unit)}"
        )
        early, for_ = end - crossing.end, finding.rule.for_
        if early > max(for_, 2 * finding.track.window):
            text = f"{stood} when its samples ended, {format_duration(early)} before the end of the run"
        elif finding.rule.severity == "warning" and ramp_down is not None and crossing.start >= ramp_down:
            continue
        elif finding.stood_at_end:
            last = f"for the last {format_duration(crossing.duration)} of what was recorded"
            at_worst = format_worst(finding, crossing.worst)
            text = f"{stood} {last}, at worst {at_worst}, and {describe_counting(finding)}"
        else:
            continue
        before = entries.get((finding.rule.signal, finding.track.subject))
        if before is None or crossing.duration > before[0]:
            entries[finding.rule.signal, finding.track.subject] = crossing.duration, Doubt(text, about=finding)
    yield from (doubt for _, doubt in entries.values())


def doubt_across_gaps(findings: Iterable[Finding]) -> Iterator[Doubt]:
    """Yield doubts about thresholds crossed on both sides of a gap in the data, and so perhaps throughout the gap."""
    for finding in findings:
        gap = (
            _find_gap_in_crossing(finding.track, finding.rule.for_)
            if finding.track and finding.outcome == Outcome.WITHIN
            else None
        )
        if finding.severe and finding.track and gap:
            side = _SIDES[finding.track.healthy.worse]
            counts = f"and {describe_counting(finding)}"
            when = f"before and after {format_duration(gap)} without data"
            yield Doubt(f"{format_subject_title(finding)} went {side} its limit {when}, {counts}", about=finding)


def _find_gap_in_crossing(track: RuleEvaluation, for_: int) -> int | None:
    """Return the length (ns) of a gap between crossings that, joined across it, last at least `for_` (ns); else None.

    Gaps of an hour or more do not count, as the crossings before and after may have separate causes.
    """
    crossings, over_gap = track.crossings, track.matrix.gaps_crossed(track.row)
    if not over_gap.any():
        return None
    starts, ends = crossings.starts.tolist(), crossings.ends.tolist()
    start = starts[0]
    for at in range(1, len(starts)):
        gap = starts[at] - ends[at - 1]
        if not over_gap[at] or gap >= _LONGEST_GAP:
            start = starts[at]
        elif ends[at] - start >= for_:
            return gap
    return None


def advise_part(clock: Clock, part: tuple[int, int], run: tuple[int, int]) -> str:
    """Return advice to judge a part of a run alone, both from start to end (UTC ns); empty if the part is short."""
    if part[1] - part[0] < 2 * SHORTEST_ABSENCE:
        return ""
    bounds = ((Parameter.FROM, part[0], run[0]), (Parameter.TO, part[1], run[1]))
    named = [f"{name} {clock(time).replace(' ', 'T')}" for name, time, edge in bounds if time != edge]
    return f"judge a part alone with {' and '.join(named)}"


def doubt_partial_hosts(
    spans: Mapping[str, tuple[int, int]], rows: tuple[int, int], interval: int, clock: Clock
) -> Iterator[Doubt]:
    """Yield a doubt about hosts whose samples begin well after the start of the recordings, or end well before the end.

    `spans` has the first and last sample of each host, `rows` the first and last row of all recordings (UTC ns).
    `interval` is the longest sampling interval (ns).
    """
    start, end = rows
    value = max(compute_long_absence(end - start), PAUSE * interval)
    entries: dict[str, str] = {}
    firsts = [first for first, _ in spans.values() if first - start > value]
    lasts = [last for _, last in spans.values() if end - last > value]
    advice = advise_part(clock, (max(firsts, default=start), min(lasts, default=end)), rows)
    for host, (first, last) in spans.items():
        late = [f"from {format_duration(first - start)} after the start"] if first - start > value else []
        early = [f"until {format_duration(end - last)} before the end"] if end - last > value else []
        if late or early:
            entries[host] = " and ".join((*late, *early))
    if len(entries) == 1:
        (host, when), *_ = entries.items()
        yield Doubt(f"{host} was recorded only {when} of the run", advice)
    elif entries:
        text = join_names([f"{host} {when}" for host, when in entries.items()], _MOST_NAMED)
        yield Doubt(f"{len(entries):,} hosts were recorded for a part of the run only: {text}", advice)


def doubt_apart_from_load(is_apart: bool) -> Iterator[Doubt]:
    """Yield a doubt if `is_apart`: the load driver's results and the hosts' recordings do not overlap in time."""
    if is_apart:
        result = "the results of the load driver and the recordings of the hosts have no time in common"
        yield Doubt(result, "name those of one run, or correct the zone or clock of one of them")


def doubt_without_values(findings: Iterable[Finding], has_values: Callable[[Finding], bool]) -> Iterator[Doubt]:
    """Yield a doubt about processor, memory and disk signals that were recorded on a host without a single value."""
    judged: dict[tuple[str, str], bool] = {}
    names: dict[tuple[str, str], str] = {}
    for finding in findings:
        resource = finding.rule.signal.partition(".")[0]
        if finding.severe and finding.subject and resource in _NEEDED and finding.outcome not in _UNRECORDED:
            key = make_host_key(finding.subject.host), finding.rule.signal
            judged[key] = judged.get(key, False) or finding.outcome != Outcome.NO_DATA or has_values(finding)
            names[key] = f"{finding.signal.title} of {finding.subject.host}"
    blank = [names[key] for key, is_judged in judged.items() if not is_judged]
    if blank:
        yield Doubt(f"there is no value in what was recorded for {join_names(blank, _MOST_NAMED)}")


def doubt_objective(findings: Iterable[Finding]) -> Iterator[Doubt]:
    """Yield a doubt if limits of the objective in plimsoll.toml could not be judged."""
    lacking = [
        finding
        for finding in findings
        if finding.pack.pack == OBJECTIVE and finding.outcome not in (*JUDGED, Outcome.OFF)
    ]
    if any(finding.outcome == Outcome.DOES_NOT_APPLY for finding in lacking):
        yield Doubt("the objective was not judged: no results of a load driver were given", "name its file, too")
        return
    names = list(dict.fromkeys(finding.signal.title for finding in lacking))
    if names:
        why = "the load driver's results do not have it, or too little of it"
        yield Doubt(f"the objective was not judged for {join_names(names, _MOST_NAMED)}", why)


def doubt_short_data(findings: Sequence[Finding]) -> Iterator[Doubt]:
    """Yield a doubt for each host with too little data for at least half of its recorded warning and critical rules."""
    for host, recorded in _can_fire(findings).items():
        unable = sum(not judged for judged in recorded)
        if 2 * unable >= len(recorded):
            share = f"all {unable:,}" if unable == len(recorded) else f"{unable:,} of the {len(recorded):,}"
            few = f"{share} warning and critical thresholds"
            of = "the one warning or critical threshold" if len(recorded) == 1 else few
            reason = f"the recording of {host} is too short, or lacks data, for {of} whose counters were recorded"
            yield Doubt(reason, _advise_recording(findings, host))


def _advise_recording(findings: Iterable[Finding], host: str) -> str:
    """Return advice on how long to record a host so that about 80 % of the rules recorded too briefly can be judged.

    The advice is empty if no rule of the host was recorded too briefly.
    """
    short = [
        (finding.rule, finding.track)
        for finding in findings
        if finding.severe
        and finding.outcome == Outcome.TOO_SHORT
        and finding.track
        and finding.subject
        and make_host_key(finding.subject.host) == make_host_key(host)
    ]
    if not short:
        return ""
    needed = sorted(rule.for_ + track.window for rule, track in short)[len(short) * 4 // 5]
    broken = all(int(track.times[-1] - track.times[0]) >= needed for _, track in short)
    return f"record for {format_duration(needed)} or longer{' without a break' if broken else ''}"


def _can_fire(findings: Iterable[Finding]) -> dict[str, list[bool]]:
    """Return by host, for each warning or critical rule with recorded counters, whether the rule could fire."""
    rules: dict[tuple[str, str], bool] = {}
    hosts: dict[str, str] = {}
    for finding in findings:
        lacks_fact = finding.outcome == Outcome.NOT_JUDGED and finding.needs is not None
        if finding.severe and finding.subject and finding.outcome not in _UNRECORDED and not lacks_fact:
            host = hosts.setdefault(make_host_key(finding.subject.host), finding.subject.host)
            rules[host, finding.rule.id] = rules.get((host, finding.rule.id), False) or not finding.cannot_fire
    return group_pairs((host, judged) for (host, _), judged in rules.items())


def doubt_without_conditions(
    findings: Sequence[Finding], signals: Mapping[str, Signal], recorded: IsRecorded
) -> list[Doubt]:
    """Return doubts about limits passed for long enough to count while a further condition of the rule had no data.

    `recorded` returns whether a signal was recorded on a host. A limit is left out if another rule with the same limit
    has all its conditions recorded. Several rules on one signal of a subject give a single doubt.
    """
    judged = [finding for finding in findings if finding.severe and finding.subject and finding.outcome in _WITH_VALUES]
    open_ = {finding: past for finding in judged if finding.rule.and_ and (past := _compute_time_past(finding))}
    if not open_:
        return []
    settled = {_limit(finding) for finding in judged if not _list_lacking(finding, recorded)}
    doubts: dict[object, Doubt] = {}
    for finding, past in open_.items():
        if (lacking := _list_lacking(finding, recorded)) and _limit(finding) not in settled:
            side, names = _SIDES[limit_of(finding).worse], [signals[name].title for name in lacking]
            reason = (
                f"{format_subject_title(finding)} was {side} its limit for {format_duration(past)}, which counts or "
                "not by"
            )
            which = join_names(names, _MOST_LACKING)
            step = f"record {which} of {finding.subject.host if finding.subject else ''}, too"
            doubt = Doubt(f"{reason} {which}", "record that, too", finding, step)
            doubts.setdefault((finding.rule.signal, finding.subject), doubt)
    return list(doubts.values())


def _list_lacking(finding: Finding, recorded: IsRecorded) -> list[str]:
    """Return the signals that a rule's further conditions need and that were not recorded."""
    host = finding.subject.host if finding.subject else ""
    needed = [part.signal for part in finding.rule.and_ if not part.if_not_recorded]
    return [name for name in dict.fromkeys(needed) if not recorded(name, host)]


def _limit(finding: Finding) -> object:
    return finding.rule.signal, finding.subject.key if finding.subject else None, limit_of(finding)


def _compute_time_past(finding: Finding) -> int:
    """Return how long (ns) a value was past its limit while another condition had no data; 0 if too short to count."""
    track = finding.track
    if track is None:
        return 0
    past = ~track.healthy.holds(track.values) & (track.values == track.values) & (track.truths == Truth.NO_DATA)
    total = int(past.sum()) * EVALUATION_INTERVAL
    if finding.ended is not None and past.any():
        total = min(total, finding.ended - int(track.times[past][0]))
    return total if total >= finding.rule.for_ and past.mean() >= finding.rule.often else 0
