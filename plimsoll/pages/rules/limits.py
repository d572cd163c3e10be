"""Changes limits of hosts: they are written to limits.toml, and judged from the next evaluation on."""

import time
from dataclasses import dataclass
from threading import Lock
from typing import Any

from plimsoll.alerting.audit_log import Actor
from plimsoll.hosts import overlay
from plimsoll.model.errors import Unusable
from plimsoll.model.series import host_key
from plimsoll.model.times import Zone
from plimsoll.pages.shared.asking import record
from plimsoll.rules.schema.pack import Rule
from plimsoll.up.watched import Watched

_MOST_HOSTS = 5000
_one_at_a_time = Lock()


@dataclass(frozen=True, slots=True)
class LimitForm:
    """What the form has; `length` is for how long a crossing must last, `wrong` why it was refused."""

    host: str = ""
    healthy: str = ""
    length: str = ""
    reason: str = ""
    wrong: str = ""


def content(watched: Watched, rule: Rule) -> dict[str, Any]:
    """What the page needs: the hosts on which the rule is judged, and those whose limit can be taken back."""
    hosts = {one.subject.host for one in watched.judged() if one.rule.id == rule.id}
    try:
        here = overlay.changed_here(watched.folder, rule.id)
    except Unusable:
        here = set[str]()
    general = overlay.limit_now(watched.site.overrides, rule, "", watched.site.catalogue)
    return {"hosts": sorted(hosts, key=host_key)[:_MOST_HOSTS], "changed_here": here, "usual": general}


def change(watched: Watched, rule: Rule, form: LimitForm, who: Actor) -> str:
    """Change the limit of a rule on a host; why that is refused, empty if it is not."""
    host = next((one for one in _known(watched) if host_key(one) == host_key(form.host)), None)
    if host is None:
        return (
            f"no host is named {form.host[:200]}: the page Health lists those that are known"
            if form.host
            else ("give the host")
        )
    if not form.healthy:
        return "give the limit, as it is healthy: < 95 %"
    given = {"healthy": form.healthy, "for": form.length, "reason": form.reason}
    named = f"{who.name}, {Zone.parse('UTC').clock(time.time_ns())[:10]}"

    def changed() -> str:
        limit = overlay.change(watched.folder, watched.site.catalogue, rule, host, given, named)
        return f"changed the limit of {rule.id} on {host} to {limit}: {form.reason}"

    return _done(watched, who, changed)


def undo(watched: Watched, rule: str, host: str, who: Actor) -> str:
    """Take a change back; why that is refused, empty if it is not."""

    def undone() -> str:
        overlay.remove(watched.folder, rule, host)
        return f"took back the limit of {rule} on {host}"

    return _done(watched, who, undone)


def _known(watched: Watched) -> set[str]:
    return {one.name for one in watched.health().hosts} | {one.subject.host for one in watched.judged()}


def _done(watched: Watched, who: Actor, act: Any) -> str:
    """Do it, and judge by it. If it cannot be judged by, the file is as before."""
    with _one_at_a_time:
        try:
            before = overlay.text(watched.folder)
            what = act()
            done = watched.reload()
            if done.refused:
                overlay.save(watched.folder, before)
                return f"nothing was changed: {done.refused}"
        except Unusable as error:
            return str(error)
        except OSError as error:
            return f"{overlay.FILE_NAME} cannot be written: {error.strerror or error}"
    record(watched, who, what)
    return ""
