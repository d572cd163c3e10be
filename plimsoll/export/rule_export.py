"""Code for exports to every system: the exported files, the refusals, and rules written as YAML."""

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
    """The exported files by name, the number of rules in these files, and the refusals."""

    files: Mapping[str, str]
    rules: int
    refused: tuple[Refusal, ...]


class _RuleDumper(yaml.CSafeDumper):
    """Writes YAML with short mappings and lists on one line, multi-line texts as blocks, and no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_data(dumper: yaml.CSafeDumper, data: Any) -> yaml.Node:
    """Return the YAML node for a text, mapping, list or number; 5.0 is written as 5."""
    tag = "tag:yaml.org,2002:"
    match data:
        case str():
            return dumper.represent_scalar(f"{tag}str", data, style="|" if "\n" in data else None)
        case dict():
            return dumper.represent_mapping(f"{tag}map", data.items(), flow_style=set(data) in _INLINE_KEYS or None)
        case list():
            scalars = all(isinstance(value, str | int | float) for value in data)
            return dumper.represent_sequence(f"{tag}seq", data, flow_style=scalars)
        case _ if data == int(data):
            return dumper.represent_scalar(f"{tag}int", str(int(data)))
        case _:
            return dumper.represent_scalar(f"{tag}float", f"{data:.15g}")


for _type in (str, dict, list, float):
    _RuleDumper.add_representer(_type, _represent_data)


def write_yaml(document: Mapping[str, object], comment: str) -> str:
    """Return a document as YAML, below a comment of one or more lines."""
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    return head + yaml.dump(document, Dumper=_RuleDumper, sort_keys=False, allow_unicode=True, width=_NO_LINE_BREAKS)
