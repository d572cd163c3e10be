"""plimsoll.toml: phases, facts, drives, and rules that are set otherwise."""

import tomllib
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from .catalogue import Rule, duration, limit, share

# What the documents assume of a machine nobody described.
DOCUMENTED = {"processors": 1.0, "spindles": 1.0}


@dataclass
class Settings:
    """What the file says; empty where there is none. Phases are name, start and end in ms.

    Names of hosts are in small letters; `expected` are all it names.
    """

    phases: list[tuple[str, int, int]] = field(default_factory=list)
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    rules: dict[str, dict[str, Any]] = field(default_factory=dict)
    expected: set[str] = field(default_factory=set)

    def fact(self, host: str, instance: str | None, name: str) -> float | None:
        """A fact of a subject: of the instance, else of the host; None if nobody knows it."""
        own = self.hosts.get(host.casefold(), {})
        of_instance = _uncased(own.get("instances", {})).get((instance or "").casefold(), {})
        for facts in (of_instance, own):
            if name in facts:
                return float(facts[name])
        return None

    def drives(self, host: str, what: str) -> set[str]:
        """The instances, in small letters, that are marked to hold `what`."""
        instances = _uncased(self.hosts.get(host.casefold(), {}).get("instances", {}))
        return {name for name, facts in instances.items() if facts.get("drive") == what}

    def override(self, host: str, rule: str) -> dict[str, Any]:
        """What is set otherwise for a rule on a host: the host's own table alone counts where it has one."""
        own = self.hosts.get(host.casefold(), {}).get("rules", {})
        return own[rule] if rule in own else self.rules.get(rule, {})


def read(folder: Path) -> Settings:
    """The settings of a folder."""
    path = folder / "plimsoll.toml"
    if not path.exists():
        return Settings()
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    phases = [(one["name"], _ms(one["from"]), _ms(one["to"])) for one in data.get("run", {}).get("phases", ())]
    hosts = _uncased(data.get("hosts", {}))
    expected = {name.casefold() for name in data.get("run", {}).get("hosts", ())} | set(hosts)
    return Settings(phases, hosts, data.get("rules", {}), expected)


def applied(rule: Rule, override: dict[str, Any]) -> Rule:
    """The rule with what is set otherwise; it recovers at the limit itself where the limit was changed."""
    first, *others = rule.conditions
    if "healthy" in override:
        first = replace(first, limit=limit(override["healthy"], rule.unit))
    if "over" in override:
        first = replace(first, over=duration(override["over"]))
    if "per" in override:
        first = replace(first, scale=override["per"])
    changed = "healthy" in override or "per" in override
    return replace(
        rule,
        conditions=(first, *others),
        for_=duration(override["for"]) if "for" in override else rule.for_,
        often=share(override["often"]) if "often" in override else rule.often,
        recover=None if changed else rule.recover,
    )


def _uncased(table: dict[str, Any]) -> dict[str, Any]:
    return {name.casefold(): value for name, value in table.items()}


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
