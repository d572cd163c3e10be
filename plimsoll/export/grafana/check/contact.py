"""Checks contact points and policies."""

import re
from collections.abc import Iterator, Sequence

from plimsoll.export.grafana.alerts.file import ContactPoint, Policy, Receiver, Route
from plimsoll.export.grafana.check.fields import Found, bad_duration, dollar, duration_s, twice, uid_mistake, unknown
from plimsoll.model.errors import suggest
from plimsoll.model.strict_yaml import Place

# The settings of a contact point of each type, and the one that it requires. Grafana ignores others.
_SETTINGS = {
    "email": ("addresses", "singleEmail", "message", "subject"),
    "webhook": (
        *("url", "httpMethod", "username", "password", "authorization_scheme", "authorization_credentials"),
        *("maxAlerts", "title", "message", "tlsConfig", "hmacConfig", "headers", "payload", "http_config"),
    ),
}
_NEEDED = {"email": "addresses", "webhook": "url"}
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")
_URL = re.compile(r"https?://[^\s/]+\S*")
_WAITS = ("group_wait", "group_interval", "repeat_interval")


def contact_mistakes(point: ContactPoint) -> Found:
    """Check one contact point."""
    if not point.name.strip():
        yield ("name",), "name is blank: Grafana does not start; give it one"
    yield from dollar(("name",), point.name)
    for at, receiver in enumerate(point.receivers):
        place: Place = ("receivers", at)
        if text := uid_mistake(receiver.uid):
            yield (*place, "uid"), text
        if not receiver.type.strip():
            yield (*place, "type"), "type is blank: Grafana does not start"
        needed = _NEEDED.get(receiver.type)
        if needed and not str(receiver.settings.get(needed) or "").strip():
            text = f"{receiver.type} needs {needed}: Grafana does not start; write an address that reaches nobody"
            yield (*place, "settings"), text
        for name, value in receiver.settings.items():
            if isinstance(value, str):
                yield from dollar((*place, "settings", name), value)
        yield from ((((*place, "settings", name)), text) for name, text in _settings(receiver))


def _settings(receiver: Receiver) -> Iterator[tuple[str, str]]:
    """Yield settings that Grafana ignores, and addresses that cannot be reached."""
    known = _SETTINGS.get(receiver.type)
    for name in receiver.settings if known else ():
        if name not in (known or ()):
            yield name, f'{receiver.type} has no setting "{name}"{suggest(name, known or ())}; correct it'
    addresses, url = receiver.settings.get("addresses"), receiver.settings.get("url")
    if receiver.type == "email" and isinstance(addresses, str):
        for one in filter(None, map(str.strip, re.split("[;,\n]", addresses))):
            if not _ADDRESS.fullmatch(one):
                yield "addresses", f'"{one}" is no e-mail address; correct it'
    if receiver.type == "webhook" and isinstance(url, str) and url.strip() and not _URL.fullmatch(url):
        yield "url", f'"{url}" is no URL; write it like http://host/path'


def policy_mistakes(policy: Policy, receivers: set[str], times: set[str]) -> Found:
    """Check the root policy and all policies below it."""
    if policy.receiver is None:
        yield (), "the root policy has no receiver: Grafana does not start; name a contact point"
    if policy.object_matchers:
        yield ("object_matchers",), "the root policy takes everything: Grafana does not start with matchers on it"
    yield from _route(policy, (), receivers, times)


def _route(route: Route, place: Place, receivers: set[str], times: set[str]) -> Found:
    if route.receiver is not None and route.receiver not in receivers:
        yield (*place, "receiver"), unknown("contact point", route.receiver, sorted(receivers))
    for label in twice(route.group_by or ()):
        yield (*place, "group_by"), f'label "{label}" stands twice: Grafana does not start; leave one out'
    for name, value in ((name, getattr(route, name)) for name in _WAITS):
        seconds = None if value is None else duration_s(value)
        if value is not None and seconds is None:
            yield (*place, name), bad_duration(name, value)
        elif name != "group_wait" and seconds == 0:
            yield (*place, name), f"{name} is 0: Grafana does not start; give it a length"
    for name, given in _intervals(route):
        for one in given:
            if one not in times:
                yield (*place, name), unknown("mute time", one, sorted(times))
    for at, (_, sign, value) in enumerate(route.object_matchers or ()):
        if sign in ("=~", "!~") and not _is_pattern(value):
            yield (*place, "object_matchers", at, 2), f'"{value}" is no regular expression; correct it'
    for at, (label, _, value) in enumerate(route.object_matchers or ()):
        for part, text in enumerate((label, value)):
            yield from dollar((*place, "object_matchers", at, part * 2), text)
    for at, one in enumerate(route.routes or ()):
        yield from _route(one, (*place, "routes", at), receivers, times)


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def _intervals(route: Route) -> Iterator[tuple[str, Sequence[str]]]:
    yield "mute_time_intervals", route.mute_time_intervals or ()
    yield "active_time_intervals", route.active_time_intervals or ()
