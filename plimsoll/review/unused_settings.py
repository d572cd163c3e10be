"""Remarks on settings in plimsoll.toml without effect, as the logs lack the host, instance or counter."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from plimsoll.hosts.facts import ConfiguredFacts
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.remark import Kind, Remark
from plimsoll.model.series import Series, make_host_key
from plimsoll.review.findings import Finding, Outcome, Question
from plimsoll.rules.subjects import Subject

_FILE = "plimsoll.toml"
_MOST_NAMED = 8


def remark_unused_settings(
    configured: ConfiguredFacts, question: Question, findings: Sequence[Finding], hosts: Sequence[str]
) -> Iterator[Remark]:
    """Yield remarks on hosts, instances and thresholds in plimsoll.toml that the logs lack."""
    host_keys = {make_host_key(host) for host in hosts}
    named = [subject for subject in configured if subject.instance is None]
    yield from _remark_hosts(
        [subject.host for subject in named if make_host_key(subject.host) not in host_keys], hosts, named
    )
    by_host = group_pairs((make_host_key(finding.subject.host), finding) for finding in findings if finding.subject)
    for subject, facts in configured.items():
        if make_host_key(subject.host) not in host_keys:
            continue
        items = by_host.get(make_host_key(subject.host), [])
        if subject.instance is None:
            yield from _remark_rules(subject.host, question, items)
        else:
            drive = next((holds for item, holds in question.drives.items() if item.key == subject.key), None)
            entries = [item.instance for item in configured if item.instance and item.host == subject.host]
            yield from _remark_instance(subject, _list_judged_instances(facts, drive, items), entries)


def list_missing_hosts(expected: Sequence[str], hosts: Sequence[str]) -> tuple[str, ...]:
    """Return the expected hosts that were not recorded. `WEB01` and `web01.example.org` are the same host."""
    return tuple(name for name in expected if not any(_is_same(name.casefold(), make_host_key(host)) for host in hosts))


def list_missing_instances(
    configured: ConfiguredFacts, hosts: Sequence[str], recorded: Iterable[tuple[str, Series]]
) -> tuple[Subject, ...]:
    """Return the instances named in plimsoll.toml, on recorded hosts, for which no series was recorded."""
    items = {(make_host_key(host), value.casefold()) for host, series in recorded for _, value in series.tags}
    host_keys = {make_host_key(host) for host in hosts}
    named = (subject for subject in configured if subject.instance is not None and subject.key[0] in host_keys)
    return tuple(
        subject
        for subject in named
        if (subject.key[0], (subject.instance or "").rpartition("/")[2].casefold()) not in items
    )


def _is_same(name: str, other: str) -> bool:
    """Return whether two names mean one host: equal, or, except for IP addresses, only one of them with a domain."""
    (short, dot, _), (other_short, other_dot, _) = name.partition("."), other.partition(".")
    return name == other or (short == other_short and not (dot and other_dot) and not short.isdecimal())


def _remark_hosts(missing: Sequence[str], hosts: Sequence[str], named: Collection[Subject]) -> Iterator[Remark]:
    """Yield remarks on missing hosts: one for each name that resembles a recorded host, one for all other names."""
    candidates = _list_not_named(hosts, (subject.host for subject in named))
    resembling = {host: near for host in missing if (near := _find_nearest(host, candidates))}
    for host, near in resembling.items():
        yield Remark(
            Kind.NOTED,
            f'{_FILE} names the host "{host}", which is not in these logs (did you mean "{near}"?): '
            "what it says of it is not used",
        )
    if rest := [host for host in missing if host not in resembling]:
        hosts_are = "a host that is" if len(rest) == 1 else "hosts that are"
        text = f"{_FILE} names {hosts_are} not in these logs, and what it says of {'it' if len(rest) == 1 else 'them'}"
        yield Remark(Kind.NOTED, f"{text} is not used: {_join_names(rest)}; these logs are of {_join_names(hosts)}")


def _remark_rules(host: str, question: Question, findings: Iterable[Finding]) -> Iterator[Remark]:
    """Yield a remark on thresholds set for a host on which the counters of the thresholds were not recorded."""
    recorded = {finding.rule.id for finding in findings if finding.outcome != Outcome.NOT_RECORDED}
    identifiers = {rule.id for pack in question.packs for rule in pack.rules}
    idle = [name for name in question.overrides.by_host.get(make_host_key(host), {}) if name in identifiers - recorded]
    if idle:
        text = f"{_FILE} sets {'a threshold' if len(idle) == 1 else 'thresholds'} for {host} whose counters were not"
        yield Remark(Kind.NOTED, f"{text} recorded there: {_join_names(idle)}", count=len(idle))


def _list_judged_instances(facts: Mapping[str, float], drive: str | None, findings: Iterable[Finding]) -> list[str]:
    """Return the instances that rules with these facts or this drive judged; all judged instances if no rule did."""
    rules = [
        (finding.subject.instance, finding.rule) for finding in findings if finding.subject and finding.subject.instance
    ]
    affected = [
        instance
        for instance, rule in rules
        if any(condition.scale in facts for condition in rule.conditions) or (drive and rule.drive == drive)
    ]
    return list(dict.fromkeys(affected or [instance for instance, _ in rules]))


def _remark_instance(subject: Subject, judged: Sequence[str], named: Sequence[str]) -> Iterator[Remark]:
    """Yield a remark if an instance in plimsoll.toml is not among the instances judged on its host."""
    name = subject.instance or ""
    if name.casefold() in map(str.casefold, judged):
        return
    near = _find_nearest(name, _list_not_named(judged, named))
    recorded = _join_names([f'"{entry}"' for entry in judged])
    text = f"recorded: {recorded}" if recorded else "no instances were recorded"
    hint = f'did you mean "{near}"?' if near else text
    yield Remark(
        Kind.NOTED,
        f'{_FILE} names the instance "{name}" of {subject.host}, of which nothing that depends on it was recorded '
        f"({hint}): what it says of it is not used",
    )


def _find_nearest(name: str, items: Sequence[str]) -> str | None:
    """Return the item most similar to a name, without regard to case and domain; None if no item is similar."""
    by_name = {text.casefold(): text for text in reversed(items)}
    short = name.casefold().partition(".")[0]
    same = next((text for folded, text in by_name.items() if folded.partition(".")[0] == short), None)
    near = get_close_matches(name.casefold(), by_name, n=1, cutoff=0.6)
    return same or (by_name[near[0]] if near else None)


def _list_not_named(items: Iterable[str], named: Iterable[str]) -> list[str]:
    """Return the items that plimsoll.toml does not name, as candidates for a misspelled name."""
    entries = {name.casefold() for name in named}
    return [name for name in items if name.casefold() not in entries]


def _join_names(names: Sequence[str]) -> str:
    text = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + text
