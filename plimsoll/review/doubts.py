"""Doubts: why a run in which nothing was crossed is still not known to be healthy. One is enough."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath

from plimsoll.hosts.objective import PACK as OBJECTIVE
from plimsoll.model.counter_names.unrecognised import Unrecognised
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remark, counted, listed
from plimsoll.model.series import host_key
from plimsoll.model.times import SECOND, duration_text
from plimsoll.review.findings import JUDGED, Doubt, Finding, Outcome
from plimsoll.review.recording.impossible import BadCounter
from plimsoll.review.sentences import breach_sentence, limit_of, subject_title, worst_text
from plimsoll.rules.crossings import Found, gaps_crossed
from plimsoll.rules.grid import EVERY
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.states import Truth
from plimsoll.rules.subjects import Subject
from plimsoll.rules.tracks import Track
from plimsoll.rules.wording import exactly

_MOST_LACKING = 2


_WITH_VALUES = (*JUDGED, Outcome.NO_DATA, Outcome.TOO_SHORT)


IsRecorded = Callable[[str, str], bool]


_MOST_NAMED = 3
_SIDES = {"lower": "below", "higher": "above", "either": "off"}
# Our choices. A gap of an hour or more may be a night, and what was crossed on both sides two different matters; live,
# a series without samples for an hour is not judged any more, either.
_LONGEST_GAP = 3600 * SECOND
SHORTEST_ABSENCE = 300 * SECOND  # most thresholds count once they are crossed for five minutes
LEAST_SHARE_ABSENT = 0.1  # of the run, which is long in one of a few hours
_LONG_ABSENCE, _LONG_SHARE = 1800 * SECOND, 0.02  # in one of a day or a week
PAUSE = 2.5  # intervals
_NEEDED = ("cpu", "memory", "disk")
_UNRECORDED = (Outcome.NOT_RECORDED, Outcome.DOES_NOT_APPLY, Outcome.OFF)


def long_absence(of: int) -> float:
    """For how long (ns) nothing may be known of a run of this length (ns) before its verdict is not known."""
    long = max(_LONG_ABSENCE, _LONG_SHARE * of)
    return max(SHORTEST_ABSENCE, min(LEAST_SHARE_ABSENT * of, long))


def doubts_text(doubts: Sequence[Doubt]) -> str:
    """Several doubts as text that can follow a colon: only the sentences after the first begin with a capital."""
    first, *others = [one.sentence for one in doubts]
    return " ".join([first, *(one[:1].upper() + one[1:] for one in others)])


def unread(remarks: Iterable[Remark]) -> Iterator[Doubt]:
    """Recordings that could not be read, and runs of which values are missing."""
    not_read = [one for one in remarks if one.kind == Kind.UNREAD]
    yield from (Doubt(one.text) for one in not_read if not one.file)
    names = [PurePath(one.file).name for one in not_read if one.file]
    if names:
        which = names[0] if len(names) == 1 else f"{counted(len(names), 'recording')} ({listed(names, _MOST_NAMED)})"
        yield Doubt(f"{which} could not be read", "see the remarks")


def contradictory(remarks: Iterable[Remark]) -> Iterator[Doubt]:
    """Different values of a host for the same times."""
    found = [one for one in remarks if one.kind == Kind.CONTRADICTORY]
    names = list(dict.fromkeys(PurePath(one.file).name for one in found if one.file))
    what = "values for the same time contradict each other in"
    if len(found) == 1:
        of = f"{found[0].counter}: " if found[0].counter else ""
        yield Doubt(f"{what} {listed(names, 1)}: {of}{found[0].text}")
    elif found:
        yield Doubt(f"{what} {counted(len(names), 'recording')} ({listed(names, _MOST_NAMED)})", "see the remarks")


def missing(hosts: Sequence[str]) -> Iterator[Doubt]:
    """Hosts that plimsoll.toml names and that no log contains."""
    if hosts:
        which = hosts[0] if len(hosts) == 1 else f"{counted(len(hosts), 'host')} ({listed(hosts, _MOST_NAMED)})"
        yield Doubt(f"no log has {which}, which plimsoll.toml names")


def missing_instances(instances: Sequence[Subject]) -> Iterator[Doubt]:
    """Instances of recorded hosts that plimsoll.toml names and that no log contains."""
    if instances:
        names = [f'"{one.instance}" of {one.host}' for one in instances]
        yield Doubt(f"no log has {listed(names, _MOST_NAMED)}, which plimsoll.toml names")


def bad_values(found: Sequence[BadCounter]) -> Iterator[Doubt]:
    """Counters whose values cannot be used."""
    if found:
        more = f", and so with {counted(len(found) - 1, 'more counter')}" if len(found) > 1 else ""
        yield Doubt(f"values of {found[0].counter} {found[0].why}{more}", "see the remarks")


def unrecognised_names(found: Sequence[Unrecognised]) -> Iterator[Doubt]:
    """Counters with unknown names on hosts where rules find no counter: they may be the ones the rules need."""
    if found:
        count = sum(one.counters for one in found)
        paths = list(dict.fromkeys(path for one in found for path in one.paths))
        lie = f"{'lies' if count == 1 else 'lie'} under {'a name' if len(paths) == 1 else 'names'}"
        names = listed(paths, _MOST_NAMED)
        yield Doubt(
            f"{counted(count, 'counter')} ({names}) {lie} that Plimsoll does not know", f"see {Parameter.NAMES}"
        )


def undecided(findings: Iterable[Finding]) -> Iterator[Doubt]:
    """Thresholds that were crossed at the start or end of a recording too short to tell for how long."""
    found = [one for one in findings if one.severe and one.undecided]
    if found:
        which = "a threshold that was" if len(found) == 1 else f"{len(found):,} thresholds that were"
        first = breach_sentence(found[0]).removesuffix(".")
        counts = f"a crossing counts after {duration_text(found[0].rule.for_)}"
        text = f"the recording is too short to judge {which} crossed in it: {first}, and {counts}"
        yield Doubt(text, about=found[0])


def unfinished(findings: Iterable[Finding], end: int | None) -> Iterator[Doubt]:
    """Signals that stood beyond a limit when a host's samples ended; `end` is that of the run (UTC ns).

    They count if those of others went on for longer than a crossing counts after, or if more than half of that time was
    crossed. If several limits of a signal did, only the one that was crossed for longest is reported.
    """
    told: dict[tuple[str, Subject], tuple[int, Doubt]] = {}
    for one in findings:
        crossing = one.unfinished if one.severe and not one.undecided else None
        if end is None or crossing is None or not one.track:
            continue
        limit, unit = one.track.healthy, one.signal.unit
        stood = f"{subject_title(one)} stood {_SIDES[limit.worse]} its limit of {exactly(limit.limit, unit)}"
        early, for_ = end - crossing.end, one.rule.for_
        if early > max(for_, 2 * one.track.window):
            text = f"{stood} when its samples ended, {duration_text(early)} before the end of the run"
        elif 2 * crossing.duration > for_:
            last = f"for the last {duration_text(crossing.duration)} of what was recorded"
            text = f"{stood} {last}, at worst {worst_text(one, crossing.worst)}, and a crossing counts after "
            text += duration_text(for_)
        else:
            continue
        before = told.get((one.rule.signal, one.track.subject))
        if before is None or crossing.duration > before[0]:
            told[one.rule.signal, one.track.subject] = crossing.duration, Doubt(text, about=one)
    yield from (doubt for _, doubt in told.values())


def across_gaps(findings: Iterable[Finding]) -> Iterator[Doubt]:
    """Thresholds that were crossed before and after a gap, long enough to count if they were crossed in it, too."""
    for one in findings:
        gap = _gap(one.columns, one.track, one.rule.for_) if one.track and one.outcome == Outcome.HELD else None
        if one.severe and one.track and gap:
            side = _SIDES[one.track.healthy.worse]
            counts = f"and a crossing counts after {duration_text(one.rule.for_)}"
            when = f"before and after {duration_text(gap)} without data"
            yield Doubt(f"{subject_title(one)} went {side} its limit {when}, {counts}", about=one)


def _gap(crossings: Found, track: Track, for_: int) -> int | None:
    """The length (ns) of a gap with crossings on both sides that are as long as `for_` together with it, if any.

    A gap that is too long for one time of trouble is none.
    """
    over_gap = gaps_crossed(track)
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


def not_throughout(spans: Mapping[str, tuple[int, int]], rows: tuple[int, int], interval: int) -> Iterator[Doubt]:
    """Hosts whose samples end well before, or begin well after, the recording of any.

    `spans` has the first and the last sample of each host, `rows` the first and the last row of all recordings (UTC
    ns); `interval` is the longest sampling interval (ns).
    """
    start, end = rows
    least = max(long_absence(end - start), PAUSE * interval)
    found: dict[str, str] = {}
    for host, (first, last) in spans.items():
        late = [f"from {duration_text(first - start)} after the start"] if first - start > least else []
        early = [f"until {duration_text(end - last)} before the end"] if end - last > least else []
        if late or early:
            found[host] = " and ".join((*late, *early))
    if len(found) == 1:
        (host, when), *_ = found.items()
        yield Doubt(f"{host} was recorded only {when} of the run")
    elif found:
        each = listed([f"{host} {when}" for host, when in found.items()], _MOST_NAMED)
        yield Doubt(f"{len(found):,} hosts were recorded for a part of the run only: {each}")


def apart_from_load(is_apart: bool) -> Iterator[Doubt]:
    """Results of a load driver that have no time in common with what was recorded of the hosts."""
    if is_apart:
        what = "the results of the load driver and the recordings of the hosts have no time in common"
        yield Doubt(what, "name those of one run, or correct the zone or clock of one of them")


def without_values(findings: Iterable[Finding], has_values: Callable[[Finding], bool]) -> Iterator[Doubt]:
    """What is needed of every host and was recorded on one without a single value."""
    judged: dict[tuple[str, str], bool] = {}
    names: dict[tuple[str, str], str] = {}
    for one in findings:
        resource = one.rule.signal.partition(".")[0]
        if one.severe and one.subject and resource in _NEEDED and one.outcome not in _UNRECORDED:
            key = host_key(one.subject.host), one.rule.signal
            judged[key] = judged.get(key, False) or one.outcome != Outcome.NO_DATA or has_values(one)
            names[key] = f"{one.signal.title} of {one.subject.host}"
    blank = [names[key] for key, is_judged in judged.items() if not is_judged]
    if blank:
        yield Doubt(f"there is no value in what was recorded for {listed(blank, _MOST_NAMED)}")


def objective(findings: Iterable[Finding]) -> Iterator[Doubt]:
    """Limits of the objective in plimsoll.toml that nothing was judged by."""
    lacking = [one for one in findings if one.pack.pack == OBJECTIVE and one.outcome not in (*JUDGED, Outcome.OFF)]
    if any(one.outcome == Outcome.DOES_NOT_APPLY for one in lacking):
        yield Doubt("the objective was not judged: no results of a load driver were given", "name its file, too")
        return
    names = list(dict.fromkeys(one.signal.title for one in lacking))
    if names:
        why = "the load driver's results do not have it, or too little of it"
        yield Doubt(f"the objective was not judged for {listed(names, _MOST_NAMED)}", why)


def too_short(findings: Sequence[Finding]) -> Iterator[Doubt]:
    """Hosts where at least half of the warning and critical rules with recorded counters could not have fired."""
    for host, recorded in _recorded(findings).items():
        unable = sum(not judged for judged in recorded)
        if 2 * unable >= len(recorded):
            share = f"all {unable:,}" if unable == len(recorded) else f"{unable:,} of the {len(recorded):,}"
            few = f"{share} warning and critical thresholds"
            of = "the one warning or critical threshold" if len(recorded) == 1 else few
            reason = f"the recording of {host} is too short, or lacks data, for {of} whose counters were recorded"
            yield Doubt(reason, _longer(findings, host))


def _longer(findings: Iterable[Finding], host: str) -> str:
    """For how long to record, so that most of what was recorded too briefly could be judged."""
    short = [
        (one.rule, one.track)
        for one in findings
        if one.severe
        and one.outcome == Outcome.TOO_SHORT
        and one.track
        and one.subject
        and host_key(one.subject.host) == host_key(host)
    ]
    if not short:
        return ""
    needed = sorted(rule.for_ + track.window for rule, track in short)[len(short) * 4 // 5]
    broken = all(int(track.times[-1] - track.times[0]) >= needed for _, track in short)
    return f"record for {duration_text(needed)} or longer{' without a break' if broken else ''}"


def _recorded(findings: Iterable[Finding]) -> dict[str, list[bool]]:
    """By host: for each warning and critical rule whose counters were recorded, whether it was judged."""
    rules: dict[tuple[str, str], bool] = {}
    hosts: dict[str, str] = {}
    for one in findings:
        lacks_fact = one.outcome == Outcome.NOT_JUDGED and one.needs is not None
        if one.severe and one.subject and one.outcome not in _UNRECORDED and not lacks_fact:
            host = hosts.setdefault(host_key(one.subject.host), one.subject.host)
            rules[host, one.rule.id] = rules.get((host, one.rule.id), False) or not one.cannot_fire
    found: dict[str, list[bool]] = {}
    for (host, _), judged in rules.items():
        found.setdefault(host, []).append(judged)
    return found


def without_their_conditions(
    findings: Sequence[Finding], signals: Mapping[str, Signal], recorded: IsRecorded
) -> list[Doubt]:
    """What was past its limit for as long as counts, where another condition of the rule has no data.

    `recorded` says whether a signal was recorded on a host. A limit that another rule could judge is left out, and of
    several rules on one signal of a subject one is named.
    """
    judged = [one for one in findings if one.severe and one.subject and one.outcome in _WITH_VALUES]
    open_ = {one: past for one in judged if one.rule.and_ and (past := _time_past(one))}
    if not open_:
        return []
    settled = {_limit(one) for one in judged if not _lacking(one, recorded)}
    found: dict[object, Doubt] = {}
    for one, past in open_.items():
        if (lacking := _lacking(one, recorded)) and _limit(one) not in settled:
            side, names = _SIDES[limit_of(one).worse], [signals[name].title for name in lacking]
            reason = f"{subject_title(one)} was {side} its limit for {duration_text(past)}, which counts or not by"
            doubt = Doubt(f"{reason} {listed(names, _MOST_LACKING)}", "record that, too", about=one)
            found.setdefault((one.rule.signal, one.subject), doubt)
    return list(found.values())


def _lacking(one: Finding, recorded: IsRecorded) -> list[str]:
    """The signals of a rule's other conditions that were not recorded."""
    host = one.subject.host if one.subject else ""
    needed = [part.signal for part in one.rule.and_ if not part.if_not_recorded]
    return [name for name in dict.fromkeys(needed) if not recorded(name, host)]


def _limit(one: Finding) -> object:
    return one.rule.signal, one.subject.key if one.subject else None, limit_of(one)


def _time_past(one: Finding) -> int:
    """For how long (ns) the value was past its limit and the condition had no data; 0 if that is less than counts."""
    track = one.track
    if track is None:
        return 0
    past = ~track.healthy.holds(track.values) & (track.values == track.values) & (track.truths == Truth.NO_DATA)
    total = int(past.sum()) * EVERY
    return total if total >= one.rule.for_ and past.mean() >= one.rule.often else 0
