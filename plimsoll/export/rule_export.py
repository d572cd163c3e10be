"""What the exports of packs share: the exported files, what was refused, and how rules are written as YAML."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from plimsoll.export.rule_sources import Refusal

_NO_LINE_BREAKS = 1_000_000
# Mappings with exactly these keys are written on one line.
_INLINE_KEYS = ({"from", "to"}, {"type", "uid"}, {"mode"}, {"type", "params"}, {"orgId", "uid"})


@dataclass(frozen=True)
class RuleExport:
    """The exported files by name, the number of rules in them, and what was refused."""

    files: Mapping[str, str]
    rules: int
    refused: tuple[Refusal, ...]


class _RuleDumper(yaml.CSafeDumper):
    """Writes short mappings and lists on one line, texts of several lines as blocks, and nothing as a reference."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.CSafeDumper, data: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", data, style="|" if "\n" in data else None)


def _represent_mapping(dumper: yaml.CSafeDumper, data: dict[str, Any]) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=set(data) in _INLINE_KEYS or None)


def _represent_list(dumper: yaml.CSafeDumper, data: list[Any]) -> yaml.Node:
    scalars = all(isinstance(value, str | int | float) for value in data)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=scalars)


def _represent_number(dumper: yaml.CSafeDumper, value: float) -> yaml.Node:
    """Return the node of a number; a whole one has no `.0`."""
    if value == int(value):
        return dumper.represent_scalar("tag:yaml.org,2002:int", str(int(value)))
    return dumper.represent_scalar("tag:yaml.org,2002:float", f"{value:.15g}")


_RuleDumper.add_representer(str, _represent_text)
_RuleDumper.add_representer(dict, _represent_mapping)
_RuleDumper.add_representer(list, _represent_list)
_RuleDumper.add_representer(float, _represent_number)


def write_yaml(document: Mapping[str, object], comment: str) -> str:
    """Return a document as YAML, below a comment of one line or several."""
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    return head + yaml.dump(document, Dumper=_RuleDumper, sort_keys=False, allow_unicode=True, width=_NO_LINE_BREAKS)
