"""Which resources of each host were judged: a run is healthy only if its processors, memory and disks were.

A resource counts as judged if a warning or critical limit could have fired on any of its signals; rules/signals name
the `resource` of a signal. A disk is judged by its latency or use, and by its free space if that was recorded. On a
host of virtual machines the object Processor proves nothing, as it covers only the root partition.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache

import numpy as np

from plimsoll.hosts.objective import PACK as OBJECTIVE
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, merge_times
from plimsoll.model.remark import join_names
from plimsoll.model.series import UNNAMED, HostKey
from plimsoll.model.shipped_tables import load_shipped_table
from plimsoll.review.doubts import PAUSE, SHORTEST_ABSENCE
from plimsoll.review.findings import JUDGED, Applied, Doubt, Finding, Outcome
from plimsoll.review.recording.host_spans import Absence, mark_lost
from plimsoll.rules.schema.field_types import Resource
from plimsoll.rules.subjects import Instances, find_letters, is_physical, is_total, is_volume

_OTHER_SYSTEMS = ("esxi", "linux")
_OF_GUESTS = (
    *("hyper_v.virtual_processor_busy", "hyper_v.root_busy", "hyper_v.memory_pressure", "hyper_v.critical_guests"),
    *("hyper_v.host_memory_pressure", "hyper_v.smart_paging", "hyper_v.disk_errors"),
)
RESOURCES: Sequence[Resource] = ("cpu", "memory", "disk")
NAMES = {"cpu": "processors", "memory": "memory", "disk": "disks"}
_NOT_RECORDED = (Outcome.NOT_RECORDED, Outcome.DOES_NOT_APPLY, Outcome.OFF)
_MOST_HOSTS, _MOST_DISKS = 3, 4
_NAMELESS = "a host that its recording does not name"
_LEAVE_OUT = "leave out the recording that names no host if it is of one of the others"
_HYPER_V = "hyper-v"
_USE, _NEARLY_ALWAYS, _IDLE_BELOW = "disk.busy", 0.99, 20  # %: our choice
HasValues = Callable[[Finding], bool]
TimesOf = Callable[[Finding], list[Times]]


@dataclass(frozen=True)
class Lack:
    """A part of a host that was not judged, as text: `the memory`, `disk C:`.

    `to_record` is the resource whose counters are missing, if any; `fact` is a fact that plimsoll.toml must give.
    """

    part: str
    to_record: str | None = None
    fact: str | None = None


@dataclass(frozen=True)
class _Host:
    """A host, and its findings by resource."""

    name: str
    has_values: HasValues
    has_guests: bool = False
    findings: dict[str, list[Finding]] = field(default_factory=dict[str, list[Finding]])

    def recorded(self, resource: Resource) -> list[Finding]:
        """Return the findings on a resource for which counters were recorded."""
        return [finding for finding in self.findings.get(resource, ()) if finding.outcome not in _NOT_RECORDED]

    def _list_judged(self, resource: Resource) -> list[Finding]:
        """Return the recorded findings on a resource; for processors of a host with guests, only those of Hyper-V."""
        guests_only = resource == "cpu" and self.has_guests
        return [finding for finding in self.recorded(resource) if not guests_only or finding.pack.pack == _HYPER_V]

    def proofs(self, resource: Resource) -> dict[str, list[Finding]]:
        """Return the findings that judged a resource: by disk, or under one key for the resource (`the memory`)."""
        recorded = self._list_judged(resource)
        by_disk = _group_by_instance(recorded) if resource == "disk" else {}
        if not by_disk:
            return {f"the {NAMES[resource]}": list(filter(_is_proof, recorded))}
        return {name: list(filter(self._is_known, findings)) for name, findings in by_disk.items()}

    def lacks(self, resource: Resource) -> list[Lack]:
        """Return the parts of a resource that were not judged."""
        if resource == "disk":
            return [*self._list_disk_lacks(), *self._list_space_lacks()]
        recorded = self._list_judged(resource)
        text, to_record = f"the {NAMES[resource]}", str(resource)
        if resource == "cpu" and self.has_guests:
            to_record = "cpu of guests"
        return [] if any(map(_is_proof, recorded)) else [_make_lack(text, to_record, recorded)]

    def _list_disk_lacks(self) -> Iterator[Lack]:
        """Yield a `Lack` on the disks that were not judged by latency or use; nothing if all disks were judged."""
        recorded = self.recorded("disk")
        by_disk = _group_by_instance(recorded)
        if not by_disk:
            if not any(map(_is_proof, recorded)):
                yield _make_lack("the disks", "disk", recorded)
            elif len(_group_by_instance(self.recorded("space"))) > 1:
                yield Lack("the single disks", "disk")
            return
        names = [name for name, findings in by_disk.items() if any(map(self._is_known, findings))]
        unknown = [name for name in by_disk if not _is_covered(name, names)]
        if all(map(is_physical, by_disk)) and all(map(find_letters, by_disk)):
            volumes = filter(is_volume, _group_by_instance(self.recorded("space")))
            unknown += [name for name in volumes if not _is_covered(name, list(by_disk))]
        if unknown:
            findings = [finding for name in unknown for finding in by_disk.get(name, ())]
            yield _make_lack("the disks" if not names else _name_disks(unknown), "disk", findings)

    def _list_space_lacks(self) -> Iterator[Lack]:
        by_volume = _group_by_instance(self.recorded("space"))
        unknown = [name for name, findings in by_volume.items() if not any(map(_is_proof, findings))]
        if unknown:
            findings = [finding for name in unknown for finding in by_volume[name]]
            yield _make_lack(f"the free space of {join_names(unknown, _MOST_DISKS)}", "space", findings)

    def _is_known(self, finding: Finding) -> bool:
        """Return whether a finding judges its disk: a limit could fire, no request gave a latency, or it idled."""
        return (
            _is_proof(finding)
            or _is_hardly_used(finding)
            or (finding.severe and finding.outcome == Outcome.NO_DATA and self.has_values(finding))
        )


def list_resources_judged_everywhere(findings: Sequence[Finding], has_values: HasValues) -> list[Resource]:
    """Return the resources that were judged on every host; none without hosts."""
    hosts = _list_hosts(findings, has_values)
    return [resource for resource in RESOURCES if hosts and not any(host.lacks(resource) for host in hosts)]


def describe_totals_alone(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a sentence on hosts with disks, or free space, judged only in total, which may hide a slow or full disk."""
    for resource, text in (("disk", "a slow one among several does"), ("space", "a full one among several does")):
        judged = (
            finding
            for finding in findings
            if finding.subject and finding.signal.resource == resource and _is_proof(finding)
        )
        by_host: dict[str, list[bool]] = {}
        for finding in judged:
            instance = finding.subject.instance if finding.subject else None
            by_host.setdefault(finding.subject.host if finding.subject else "", []).append(
                not instance or is_total(instance)
            )
        hosts = [host for host, totals in by_host.items() if all(totals)]
        if hosts:
            names = "the disks" if resource == "disk" else "the free space of volumes"
            where = f"{len(hosts):,} hosts" if len(hosts) > _MOST_HOSTS else join_names(hosts, _MOST_HOSTS)
            verb = "were" if resource == "disk" else "was"
            yield f"{names[:1].upper()}{names[1:]} of {where} {verb} recorded only in total, where {text} not show."


def doubt_unjudged(
    findings: Sequence[Finding],
    resources: Sequence[Resource],
    applied: Sequence[Applied],
    has_values: HasValues,
    *,
    too_short: bool,
) -> Iterator[Doubt]:
    """Yield doubts about required resources that were not judged, a single doubt for all hosts with the same gaps.

    With `too_short`, resources that were recorded too briefly are left out, as a separate doubt exists about them.
    """
    together: dict[tuple[tuple[str, ...], str], list[str]] = {}
    hosts = _list_hosts(findings, has_values)
    if resources and not hosts and any(finding.outcome in JUDGED for finding in findings):
        yield Doubt("the counters of no host were given", "name their logs, too")
    for host in hosts:
        lacks = [lack for resource in RESOURCES if resource in resources for lack in host.lacks(resource)]
        if too_short:
            lacks = [lack for lack in lacks if lack.to_record or lack.fact]
        if lacks:
            is_unnamed = host.name == UNNAMED and len(hosts) > 1
            advice = _LEAVE_OUT if is_unnamed else _advise(lacks, host.name, applied)
            key = tuple(lack.part for lack in lacks), advice
            together.setdefault(key, []).append(_NAMELESS if is_unnamed else host.name)
    for (items, advice), names in together.items():
        where = f"{len(names):,} hosts" if len(names) > _MOST_HOSTS else join_names(names, _MOST_HOSTS)
        verb = "was" if len(items) == 1 and items[0].startswith(("the memory", "the free", "disk ")) else "were"
        yield Doubt(f"{join_with_and(items)} of {where} {verb} not judged", advice)


def doubt_partly_recorded(
    findings: Sequence[Finding],
    resources: Sequence[Resource],
    has_values: HasValues,
    times_of: TimesOf,
    recordings: Mapping[str, Sequence[Times]],
) -> Iterator[Doubt]:
    """Yield doubts about judged resources that lacked samples for a part of the time their host was recorded.

    `recordings` are the times of each recording of each host (UTC ns).
    """
    texts: list[str] = []
    for host in _list_hosts(findings, has_values):
        recorded = merge_times(recordings.get(host.name) or [np.empty(0, np.int64)])
        for resource in resources if len(recorded) > 1 else ():
            if resource == "disk" and (text := _describe_lost_space(host, recorded, times_of)):
                texts.append(text)
            without = {
                name: _compute_absence(proof, recorded, times_of) for name, proof in host.proofs(resource).items()
            }
            throughout = [name for name, absence in without.items() if not absence.is_long]
            names = [name for name, absence in without.items() if absence.is_long and not _is_covered(name, throughout)]
            if names:
                result = _name_disks(names) if not names[0].startswith("the ") else names[0]
                verb = "was" if result.startswith(("the memory", "disk ")) else "were"
                longest = max(without[name] for name in names)
                texts.append(f"{result} of {host.name} {verb} not recorded for {longest}")
    if len(texts) <= _MOST_HOSTS:
        yield from map(Doubt, texts)
    else:
        yield Doubt(join_names(texts, _MOST_HOSTS))


def _describe_lost_space(host: _Host, recorded: Times, times_of: TimesOf) -> str:
    """Return a text on volumes whose free space stopped being recorded; empty if there are none.

    A volume that is only recorded later may have been mounted for a backup.
    """
    by_volume = {
        name: list(filter(_is_proof, findings))
        for name, findings in _group_by_instance(host.recorded("space")).items()
        if any(
            times[0] - recorded[0] <= SHORTEST_ABSENCE
            for finding in findings
            for times in times_of(finding)
            if len(times)
        )
    }
    absent = {name: _compute_absence(findings, recorded, times_of) for name, findings in by_volume.items()}
    lost_ = {name: absence for name, absence in absent.items() if absence.is_long}
    if not lost_:
        return ""
    volumes, longest = join_names(list(lost_), _MOST_DISKS), max(lost_.values())
    return f"the free space of {volumes} of {host.name} was not recorded for {longest}"


def _compute_absence(findings: Sequence[Finding], recorded: Times, times_of: TimesOf) -> Absence:
    """Return for how long a host was recorded while each of the findings lacked a counter."""
    nothing = np.full(len(recorded) - 1, bool(findings))
    longest = SHORTEST_ABSENCE
    for finding in findings:
        windows = (finding.track.window, *finding.track.other_windows) if finding.track else ()
        interval = (finding.samples.interval or 0) if finding.samples else 0
        pause = int(max(SHORTEST_ABSENCE, *windows, PAUSE * interval))
        longest = max(longest, pause)
        lacking = [mark_lost(recorded, times, pause) for times in times_of(finding) if 0 < len(times) < len(recorded)]
        if not lacking:
            return Absence()
        nothing &= np.logical_or.reduce(lacking)
    return Absence.while_recorded(recorded, nothing, longest)


def join_with_and(names: Sequence[str]) -> str:
    """Return names joined as `a, b and c`."""
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def _list_hosts(findings: Sequence[Finding], has_values: HasValues) -> list[_Host]:
    hosts: dict[str, _Host] = {}
    with_guests = find_hosts_with_guests(findings)
    for finding in findings:
        if finding.subject and finding.pack.pack != OBJECTIVE:  # results of a load driver belong to no host
            key = finding.subject.key[0]
            host = hosts.setdefault(key, _Host(finding.subject.host, has_values, key in with_guests))
            if finding.signal.resource:
                host.findings.setdefault(finding.signal.resource, []).append(finding)
    return list(hosts.values())


def _group_by_instance(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Return the findings by instance, without findings on totals."""
    entries: dict[str, list[Finding]] = {}
    for finding in findings:
        instance = finding.subject.instance if finding.subject else None
        if instance is not None and not is_total(instance):
            entries.setdefault(instance, []).append(finding)
    return entries


def _is_proof(finding: Finding) -> bool:
    """Return whether a warning or critical limit could have fired; False if the signal is always idle (queue of 0)."""
    silent_at, samples = finding.signal.silent_at, finding.samples
    is_silent = silent_at is not None and samples is not None and bool((samples.present.values == silent_at).all())
    return finding.severe and finding.outcome in JUDGED and not is_silent


def _is_hardly_used(finding: Finding) -> bool:
    """Return whether a disk was in use for so little of the time that no request waited for long."""
    values = finding.samples.present.values if finding.samples and finding.rule.signal == _USE else np.empty(0)
    return finding.outcome in JUDGED and len(values) > 0 and bool(np.quantile(values, _NEARLY_ALWAYS) < _IDLE_BELOW)


def _is_covered(name: str, judged: Sequence[str]) -> bool:
    """Return whether a disk, or each volume on the disk, is among `judged`."""
    names, volumes = [text.casefold() for text in judged], find_letters(name)
    is_same = name.casefold() in names or Instances(names).holding(name) is not None
    return is_same or (bool(volumes) and set(volumes) <= set(names))


def _make_lack(text: str, resource: str, recorded: Sequence[Finding]) -> Lack:
    briefly = any(finding.severe and finding.outcome in (Outcome.TOO_SHORT, Outcome.NO_DATA) for finding in recorded)
    fact = next((finding.needs for finding in recorded if finding.severe and finding.needs), None)
    return Lack(text, None if briefly or fact else resource, None if briefly else fact)


def _advise(lacks: Sequence[Lack], host: str, applied: Sequence[Applied]) -> str:
    counters = dict.fromkeys(list_counters_to_record(lack.to_record, host, applied) for lack in lacks if lack.to_record)
    facts = dict.fromkeys(lack.fact for lack in lacks if lack.fact)
    record = [f"record {', '.join(counters)}"] if counters else []
    return " and ".join([*record, *(f"give {fact} in plimsoll.toml" for fact in facts)])


def _name_disks(names: Sequence[str]) -> str:
    return f"disk {names[0]}" if len(names) == 1 else f"disks {join_names(names, _MOST_DISKS)}"


def describe_healthy(findings: Sequence[Finding], judged: Sequence[Resource]) -> str:
    """Return the verdict on a healthy run in words. `judged` are the resources judged on every host."""
    items = [NAMES[resource] for resource in RESOURCES if resource not in judged]
    if not items:
        return "Healthy."
    if not judged:
        return f"Healthy by what was asked for; {join_with_and(items)} were not judged."
    names = join_with_and([NAMES[resource] for resource in judged])
    counted = (finding for finding in findings if finding.severe and finding.outcome in JUDGED)
    matches = any((finding.signal.resource or "").replace("space", "disk") not in judged for finding in counted)
    verb = "was" if items == [NAMES["memory"]] else "were"
    rest = f"{join_with_and(items)} {verb} not judged" if matches else "nothing else was judged"
    return f"{names[:1].upper()}{names[1:]} healthy; {rest}."


def list_counters_to_record(resource: str, host: str, applied: Iterable[Applied]) -> str:
    """Return as text the counters to record for a resource: `cpu`, `memory`, `disk`, `space` or `network`.

    `cpu of guests` stands for the processors of a host of virtual machines.
    """
    packs = {pack.pack.pack for pack in applied if host in pack.hosts}
    return _load_counters()[next((name for name in _OTHER_SYSTEMS if name in packs), "windows")][resource]


def is_linux(host: str, applied: Iterable[Applied]) -> bool:
    """Return whether a pack for Linux was applied to the host."""
    return any(pack.pack.pack == "linux" and host in pack.hosts for pack in applied)


def find_hosts_with_guests(findings: Sequence[Finding]) -> set[HostKey]:
    """Return the hosts with counters of virtual machines, where the object Processor covers only the root partition."""
    of_guests = (finding for finding in findings if finding.rule.signal in _OF_GUESTS and finding.track is not None)
    return {of_guest.subject.key[0] for of_guest in of_guests if of_guest.subject}


@cache
def _load_counters() -> dict[str, dict[str, str]]:
    return load_shipped_table("plimsoll.review", "missing_counters.yaml", dict[str, dict[str, str]])
