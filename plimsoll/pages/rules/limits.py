"""Changes limits of hosts: they are written to limits.toml, and judged from the next evaluation on."""

import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from plimsoll.alerting.actions import Actor
from plimsoll.hosts import overlay
from plimsoll.model.errors import Unusable
from plimsoll.model.series import host_key
from plimsoll.model.times import Zone
from plimsoll.pages.shared.asking import record
from plimsoll.rules.schema.pack import Rule
from plimsoll.up.watched import Watched

_MOST_HOSTS = 5000
_one_at_a_time = Lock()


Form = Mapping[str, str]
# What the form has; `length` is for how long a crossing must last, `wrong` why it was refused.
EMPTY: Form = dict.fromkeys(("host", "healthy", "length", "reason", "wrong"), "")


def content(watched: Watched, rule: Rule) -> dict[str, Any]:
    """What the page needs: the hosts on which the rule is judged, and those whose limit can be taken back."""
    hosts = {one.subject.host for one in watched.judged() if one.rule.id == rule.id}
    try:
        here = overlay.changed_here(watched.folder, rule.id)
    except Unusable:
        here = set[str]()
    general = overlay.limit_now(watched.site.overrides, rule, "", watched.site.catalogue)
    return {"hosts": sorted(hosts, key=host_key)[:_MOST_HOSTS], "changed_here": here, "usual": general}


def change(watched: Watched, rule: Rule, form: Form, actor: Actor) -> str:
    """Change the limit of a rule on a host. Return why that is refused, empty if it is not."""
    if not form["host"]:
        return "give the host"
    host = next((name for name in _known_hosts(watched) if host_key(name) == host_key(form["host"])), None)
    if host is None:
        return f"no host is named {form['host'][:200]}: the page Health lists those that are known"
    if not form["healthy"]:
        return "give the limit, as it is healthy: < 95 %"
    values = {"healthy": form["healthy"], "for": form["length"], "reason": form["reason"]}
    author = f"{actor.name}, {Zone.parse('UTC').clock(time.time_ns())[:10]}"

    def change_file() -> str:
        limit = overlay.change(watched.folder, watched.site.catalogue, rule, host, values, author)
        return f"changed the limit of {rule.id} on {host} to {limit}: {form['reason']}"

    return _perform(watched, actor, change_file)


def undo(watched: Watched, rule: str, host: str, actor: Actor) -> str:
    """Take a change back. Return why that is refused, empty if it is not."""

    def change_file() -> str:
        overlay.remove(watched.folder, rule, host)
        return f"took back the limit of {rule} on {host}"

    return _perform(watched, actor, change_file)


def _known_hosts(watched: Watched) -> set[str]:
    return {host.name for host in watched.health().hosts} | {state.subject.host for state in watched.judged()}


def _perform(watched: Watched, actor: Actor, change_file: Callable[[], str]) -> str:
    """Change the file, and judge by it. If it cannot be judged by, the file is as before."""
    with _one_at_a_time:
        try:
            before = overlay.text(watched.folder)
            action = change_file()
            reloaded = watched.reload()
            if reloaded.refused:
                overlay.save(watched.folder, before)
                return f"nothing was changed: {reloaded.refused}"
        except Unusable as error:
            return str(error)
        except OSError as error:
            return f"{overlay.FILE_NAME} cannot be written: {error.strerror or error}"
    record(watched, actor, action)
    return ""
