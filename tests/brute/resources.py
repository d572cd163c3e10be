"""Whether processors, memory and each disk of a host were judged, without which a run is not known to be healthy."""

import re
from typing import Any

from .signals import Leaf, Made, leaves, same_disk


def is_lacking(findings: list[Any], catalogue: dict[str, Any], held: tuple[str, ...]) -> bool:
    """Whether something of a host was not judged by a warning or critical limit. `held` are the states that count."""
    of: dict[str, list[Any]] = {"cpu": [], "memory": [], "disk": [], "space": []}
    for one in findings:
        if one.judgement.state not in ("not-recorded", "does-not-apply", "off"):
            of.get(catalogue[one.rule.main.signal].get("resource", ""), []).append(one)
    judged = {
        name: [one for one in found if one.severity != "info" and one.judgement.state in held and not _silent(one)]
        for name, found in of.items()
    }
    if not judged["cpu"] or not judged["memory"]:
        return True
    disks = {one.instance for one in of["disk"] if _is_single(one.instance)}
    known = {one.instance for one in judged["disk"]}
    known |= {
        one.instance
        for one in of["disk"]
        if one.judgement.state == "no-data" and one.severity != "info" and _has_values(one.signal)
    }
    if not disks and not judged["disk"]:
        return True
    if any(not _covered(disk, known) for disk in disks):
        return True
    volumes = {one.instance for one in of["space"] if _is_single(one.instance)}
    if not disks and len(volumes) > 1:  # a total of several
        return True
    if not volumes <= {one.instance for one in judged["space"]}:
        return True
    if disks and all(re.fullmatch(r"\d+( [A-Za-z]:)+", disk) for disk in disks):
        return any(re.fullmatch("[A-Za-z]:", one) and not _covered(one, disks) for one in volumes)
    return False


def _is_single(instance: str | None) -> bool:
    return instance is not None and instance.casefold() != "_total"


def _silent(one: Any) -> bool:
    """A queue that is 0 throughout."""
    if "queue" not in one.rule.main.signal or not isinstance(one.signal, Leaf | Made):
        return False
    return all(value == 0 for leaf in leaves(one.signal) for value in leaf.column.values)


def _has_values(signal: Any) -> bool:
    return isinstance(signal, Leaf | Made) and all(leaf.column.times for leaf in leaves(signal))


def _covered(disk: str, known: set[str | None]) -> bool:
    names = [one for one in known if one is not None]
    if any(same_disk(disk, one) for one in names):
        return True
    letters = disk.casefold().split()[1:] if re.fullmatch(r"\d+( [A-Za-z]:)+", disk) else []
    return bool(letters) and set(letters) <= {one.casefold() for one in names}
