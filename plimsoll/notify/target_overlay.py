"""targets.toml: the notification targets that were added on a page of Plimsoll, beside those of up.toml.

The file has tables as in up.toml, `[notify.NAME]`, and contains secrets as up.toml does. Of two targets with one name,
the target in up.toml is used.
"""

import json
import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from urllib.parse import quote

from pydantic import Field, SecretStr

from plimsoll.model import user_files
from plimsoll.model.errors import Unusable
from plimsoll.model.strict_toml import decode_text, parse_toml
from plimsoll.notify.delivery import make_sender
from plimsoll.notify.settings import Strict, TargetSettings

FILE_NAME = "targets.toml"
_HEAD = "# Targets that were added on a page of plimsoll up, which writes this file anew; see docs/alerts.md.\n"
_LONGEST = 2000
# Addresses as apprise writes them, of the fields of a form.
_ADDRESSES = {
    "mail": "mailtos://{user}:{password}@{server}?from={from}&to={to}",
    "slack": "{url}",
    "teams": "{url}",
    "webhook": "{url}",
    "pagerduty": "pagerduty://{key}@{api_key}",
}
_WEBHOOKS = {
    "slack": (r"https://hooks\.slack\.com/services/\w+/\w+/\w+$", "https://hooks.slack.com/services/..."),
    "teams": (
        r"https://[\w.-]+(:443)?/(powerautomate/automations/direct/(cu/\d+/)?)?workflows/",
        "https://...:443/workflows/... (of Teams' app Workflows)",
    ),
    "webhook": (r"https?://[^/]", "https://"),
}
_WORDS = {
    "server": "mail server",
    "from": "sender's address",
    "to": "receiver's address",
    "url": "address of the webhook",
    "key": "integration key",
    "api_key": "API key",
}
_OPTIONAL = ("user", "password")


class _Target(Strict):
    url: SecretStr


class _Targets(Strict):
    notify: dict[str, _Target] = Field(default={})


def load_added(folder: Path) -> dict[str, TargetSettings]:
    """Return the targets in targets.toml by name; none without the file. Raise Unusable if the file is invalid."""
    path = folder / FILE_NAME
    if not os.path.lexists(path):
        return {}
    targets = parse_toml(decode_text(user_files.read(path), path), path, _Targets).notify
    return {name: TargetSettings(url=target.url) for name, target in targets.items()}


def add(folder: Path, form: Mapping[str, str], taken: Collection[str]) -> str:
    """Return the text of targets.toml with the target of a form added.

    The form has a `name`, a `kind` of _ADDRESSES and the fields of its address. Raise Unusable if the form is invalid,
    or if its name is among the names that are `taken`; the text is for the sender of the form, without secrets.
    """
    name, kind = form.get("name", ""), form.get("kind", "")
    if not re.fullmatch(r"[\w-]{1,40}", name):
        raise Unusable("give a name of letters, digits, - and _, at most 40: team")
    if name in taken:
        raise Unusable(f"there is a target {name}: give another name, or remove that one first")
    if kind not in _ADDRESSES:
        raise Unusable("choose what is notified")
    fields = {field: form.get(field, "") for field in re.findall(r"{(\w+)}", _ADDRESSES[kind])}
    for field, text in fields.items():
        if not text and field not in _OPTIONAL:
            raise Unusable(f"give the {_WORDS.get(field, field)}")
        if len(text) > _LONGEST or re.search(r"[\s\x00-\x1f]", text):
            raise Unusable(f"no field has spaces, or more than {_LONGEST:,} characters")
    pattern, example = _WEBHOOKS.get(kind, ("", ""))
    if not re.match(pattern, fields.get("url", "")):
        raise Unusable(f"the address of the webhook begins as {example}")
    values = {field: text if field in ("url", "server") else quote(text, safe="") for field, text in fields.items()}
    address = _ADDRESSES[kind].format(**values).replace("://:@", "://")
    if kind == "webhook":
        address = f"json{address.removeprefix('http')}"
    make_sender(address, "the target")
    return _format_targets({**load_added(folder), name: TargetSettings(url=SecretStr(address))})


def remove(folder: Path, name: str) -> str:
    """Return the text of targets.toml without the target `name`. Raise Unusable if the file has no such target."""
    targets = load_added(folder)
    if name not in targets:
        raise Unusable(f"{name[:100]} was not added here: edit up.toml")
    return _format_targets({other: target for other, target in targets.items() if other != name})


def _format_targets(targets: Mapping[str, TargetSettings]) -> str:
    tables = [
        f"[notify.{json.dumps(name)}]\nurl = {json.dumps(target.url.get_secret_value(), ensure_ascii=False)}\n"
        for name, target in targets.items()
    ]
    return "\n".join([_HEAD, *tables]) if tables else ""
