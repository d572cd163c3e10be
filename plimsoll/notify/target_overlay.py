"""targets.toml: the notification targets that were added on a page of Plimsoll, beside those of up.toml.

The file has tables as in up.toml, `[notify.NAME]`, and contains secrets as up.toml does. A name in up.toml counts.
"""

import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from urllib.parse import quote

from pydantic import Field, SecretStr

from plimsoll.model import user_files
from plimsoll.model.errors import Unusable
from plimsoll.model.strict_toml import decoded, parsed
from plimsoll.notify.delivery import sender
from plimsoll.notify.settings import Strict, TargetSettings

FILE_NAME = "targets.toml"
_HEAD = "# Targets that were added on a page of plimsoll up, which writes this file anew; see docs/alerts.md.\n"
_LONGEST = 2000


class _Target(Strict):
    url: SecretStr


class _Targets(Strict):
    notify: dict[str, _Target] = Field(default={})


def added(folder: Path) -> dict[str, TargetSettings]:
    """Return the targets in targets.toml by name; none without the file. Raise Unusable if it is invalid."""
    path = folder / FILE_NAME
    if not os.path.lexists(path):
        return {}
    targets = parsed(decoded(user_files.read(path), path), path, _Targets).notify
    return {name: TargetSettings(url=target.url) for name, target in targets.items()}


def add(folder: Path, form: Mapping[str, str], taken: Collection[str]) -> str:
    """Return the text of targets.toml with the target in a form.

    The form has a `name`, a `kind` of KINDS and the fields of that kind. Raise Unusable, in words for the form and
    without secrets, if the form is invalid, or if there is a target of this name among the `taken`.
    """
    name, kind = form.get("name", ""), form.get("kind", "")
    if not re.fullmatch(r"[\w-]{1,40}", name):
        raise Unusable("give a name of letters, digits, - and _, at most 40: team")
    if name in taken:
        raise Unusable(f"there is a target {name}: give another name, or remove that one first")
    if kind not in KINDS:
        raise Unusable("choose what is notified")
    fields, address_of = KINDS[kind]
    values = {field: form.get(field, "") for field in fields}
    if missing := next((field for field in fields if not values[field] and field not in _OPTIONAL), None):
        raise Unusable(f"give the {fields[missing]}")
    if any(len(text) > _LONGEST or re.search(r"[\s\x00-\x1f]", text) for text in values.values()):
        raise Unusable(f"no field has spaces, or more than {_LONGEST:,} characters")
    address = address_of(values)
    sender(address, "the target")
    return _written({**added(folder), name: TargetSettings(url=SecretStr(address))})


def remove(folder: Path, name: str) -> str:
    """Return the text of targets.toml without a target. Raise Unusable if the file has no such target."""
    targets = added(folder)
    if name not in targets:
        raise Unusable(f"{name[:100]} was not added here: edit up.toml")
    return _written({other: target for other, target in targets.items() if other != name})


def _written(targets: Mapping[str, TargetSettings]) -> str:
    tables = [
        f"[notify.{json.dumps(name)}]\nurl = {json.dumps(target.url.get_secret_value(), ensure_ascii=False)}\n"
        for name, target in targets.items()
    ]
    return "\n".join([_HEAD, *tables]) if tables else ""


def _mail(form: Mapping[str, str]) -> str:
    user, password, origin, to = (quote(form[name], safe="") for name in ("user", "password", "from", "to"))
    login = f"{user}:{password}@" if user else ""
    return f"mailtos://{login}{form['server']}?from={origin}&to={to}"


def _hook(form: Mapping[str, str]) -> str:
    if not re.match(r"https?://[^/]", form["url"]):
        raise Unusable("the address begins with https://")
    return re.sub(r"^http(s?)://", r"json\1://", form["url"])


def _native(form: Mapping[str, str], pattern: str, example: str) -> str:
    if not re.match(pattern, form["url"]):
        raise Unusable(f"the address is that of a webhook: {example}")
    return form["url"]


_SLACK = r"https://hooks\.slack\.com/services/\w+/\w+/\w+$"
_TEAMS = r"https://[\w.-]+(:443)?/(powerautomate/automations/direct/(cu/\d+/)?)?workflows/"
_URL = {"url": "address of the webhook"}
_MAIL = {
    "server": "mail server",
    "user": "user",
    "password": "password",
    "from": "sender's address",
    "to": "receiver's address",
}
_OPTIONAL = ("user", "password")
# The fields of each kind of target, in words, and its address as apprise writes it.
KINDS: Mapping[str, tuple[Mapping[str, str], Callable[[Mapping[str, str]], str]]] = {
    "mail": (_MAIL, _mail),
    "slack": (_URL, lambda form: _native(form, _SLACK, "https://hooks.slack.com/services/...")),
    "teams": (_URL, lambda form: _native(form, _TEAMS, "https://...:443/workflows/... of Teams' app Workflows")),
    "webhook": (_URL, _hook),
    "pagerduty": (
        {"key": "integration key", "api_key": "API key"},
        lambda form: f"pagerduty://{quote(form['key'], safe='')}@{quote(form['api_key'], safe='')}",
    ),
}
