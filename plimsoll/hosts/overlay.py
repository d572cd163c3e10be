"""limits.toml: the limits of hosts that people changed on a page of Plimsoll, which override plimsoll.toml.

The file has tables as in plimsoll.toml, `[hosts.NAME.rules.ID]`; each reason ends with the name of the person. A table
can be moved to plimsoll.toml, and commands accept the file as settings.
"""

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from plimsoll.hosts.overrides import Overrides, list_mistakes
from plimsoll.hosts.settings import FILE_NAME as GENERAL
from plimsoll.hosts.settings import Settings, parse, read_settings_text
from plimsoll.model.atomic import write_atomically
from plimsoll.model.errors import Unusable, escape
from plimsoll.model.series import make_host_key
from plimsoll.rules.load import Catalogue
from plimsoll.rules.schema.pack import Rule

FILE_NAME = "limits.toml"
_LONGEST = 500
_HEAD = "# Limits that were changed on pages of plimsoll up, which writes this file anew; see docs/settings.md.\n"


def load_with_overlay(settings: Settings, path: Path | None, folder: Path, catalogue: Catalogue) -> Overrides:
    """Return the rule settings of plimsoll.toml, overridden by those of limits.toml in `folder`.

    Raise Unusable if a limit does not fit its rule.
    """
    rules, signals = catalogue.rules, catalogue.signals
    overrides = settings.overrides(path or Path(GENERAL), rules, signals)
    local = _read(folder).overrides(folder / FILE_NAME, rules, signals).by_host
    by_host = {
        host: {**overrides.by_host.get(host, {}), **local.get(host, {})} for host in (*overrides.by_host, *local)
    }
    return replace(overrides, by_host=by_host)


def list_changed_hosts(folder: Path, rule: str) -> set[str]:
    """Return the hosts (case-folded) for which limits.toml changes a rule."""
    return {make_host_key(host) for host, facts in _read(folder).hosts.items() if rule in facts.rules}


def read_overlay(folder: Path, name: str = FILE_NAME) -> str:
    """Return the content of limits.toml, or of the file `name` in `folder`; empty if the file does not exist."""
    path = folder / name
    return read_settings_text(path) if os.path.lexists(path) else ""


def save(folder: Path, content: str, name: str = FILE_NAME) -> None:
    """Write limits.toml, or the file `name`, readable by its owner alone; remove the file if the content is empty."""
    path = folder / name
    if not content:
        path.unlink(missing_ok=True)
        return
    with write_atomically(path) as partial:
        partial.write_text(content, "utf-8")
        partial.chmod(0o600)


def change_limit(folder: Path, catalogue: Catalogue, rule: Rule, host: str, form: Mapping[str, str], who: str) -> str:
    """Change a rule's limit for a host, to the form's `healthy` and `for`, with the form's `reason` and the name `who`.

    Return the new limit as text, such as `< 95 %, for 10m`. Raise Unusable, in words for the form, if it is invalid.
    """
    reason = " ".join(escape(form.get("reason", "")).split())
    if not reason:
        raise Unusable("give the reason: it is in every alert and report of this limit")
    if len(reason) > _LONGEST:
        raise Unusable(f"the reason has {len(reason):,} characters; at most {_LONGEST} are kept")
    settings = {name: form[name].strip() for name in ("healthy", "for") if form.get(name, "").strip()}
    tables = _read_tables(folder)
    name_in_file = next((name for name in tables if make_host_key(name) == make_host_key(host)), host)
    tables.setdefault(name_in_file, {})[rule.id] = {**settings, "reason": f"{reason} ({who})"}
    content = _format_tables(tables)
    try:
        parsed = parse(content, folder / FILE_NAME).hosts[name_in_file].rules[rule.id]
    except Unusable as error:
        raise Unusable(_strip_place(str(error), folder, name_in_file, rule)) from None
    place = f"hosts.{name_in_file}.rules"
    for mistake in list_mistakes(place, {rule.id: parsed}, catalogue.rules, catalogue.signals):
        raise Unusable(_strip_place(f"{folder / FILE_NAME}: {mistake}", folder, name_in_file, rule))
    save(folder, content)
    return ", for ".join(settings.values()) if len(settings) > 1 else next(iter(settings.values()))


def remove(folder: Path, rule: str, host: str) -> None:
    """Remove the change of a rule's limit for a host. Raise Unusable if there is none."""
    tables = _read_tables(folder)
    name_in_file = next(
        (name for name, table in tables.items() if make_host_key(name) == make_host_key(host) and rule in table), None
    )
    if name_in_file is None:
        raise Unusable(f"{rule} was not changed for {host} here")
    del tables[name_in_file][rule]
    save(folder, _format_tables({name: table for name, table in tables.items() if table}))


def _read(folder: Path) -> Settings:
    return parse(read_overlay(folder), folder / FILE_NAME)


def _read_tables(folder: Path) -> dict[str, dict[str, Mapping[str, object]]]:
    """Return each rule's settings as written in limits.toml, by host. Raise Unusable if the file is invalid."""
    _read(folder)
    return {
        host: facts.get("rules", {}) for host, facts in tomllib.loads(read_overlay(folder)).get("hosts", {}).items()
    }


def _format_tables(tables: Mapping[str, Mapping[str, Mapping[str, object]]]) -> str:
    """Return the text of limits.toml with these tables; empty if nothing is changed."""
    parts: list[str] = []
    for host, rules in sorted(tables.items(), key=lambda item: make_host_key(item[0])):
        for rule, settings in sorted(rules.items()):
            lines = [f"{name} = {_format_value(value)}" for name, value in settings.items()]
            parts.append("\n".join([f"[hosts.{_format_value(host)}.rules.{_format_value(rule)}]", *lines, ""]))
    return "\n".join([_HEAD, *parts]) if parts else ""


def _format_value(value: object) -> str:
    # JSON's escapes are valid in TOML.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _strip_place(error: str, folder: Path, host: str, rule: Rule) -> str:
    """Return an error message without its place in the file, which users of the form do not see."""
    return error.replace(f"{folder / FILE_NAME}: ", "").replace(f"hosts.{host}.rules.{rule.id}", "").lstrip(".: ")
