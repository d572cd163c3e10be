"""The hosts that the address of the health page chooses, and how they are grouped."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from starlette.datastructures import QueryParams

STEP = 100  # hosts that are shown at first, and more at a time
MOST = 2000
_LONGEST = 100
_NUMBERED = re.compile(r"[-_.]?\d+$")


@dataclass(frozen=True, slots=True)
class HostChoice:
    """The chosen hosts: `text` is a part of their names, `state` their grade, `label` as `site=Berlin`; empty is all.

    `group` is `name`, `pack` or the name of a label; `rows` is how many hosts are shown.
    """

    text: str = ""
    state: str = ""
    label: str = ""
    group: str = ""
    rows: int = STEP

    @classmethod
    def of(cls, query: QueryParams) -> "HostChoice":
        """Return the choice that the parameters of an address make."""
        text, state, label, group = (query.get(key, "")[:_LONGEST].strip() for key in ("q", "state", "label", "group"))
        rows = query.get("rows", "")
        return cls(text, state, label, group, min(int(rows), MOST) if rows.isdecimal() and len(rows) < 6 else STEP)

    @property
    def parameters(self) -> dict[str, str | int | None]:
        """The parameters of the address of this choice."""
        fields = {"q": self.text, "state": self.state, "label": self.label, "group": self.group}
        return {name: value or None for name, value in fields.items()}

    @property
    def is_all(self) -> bool:
        """Whether no host is left out."""
        return not (self.text or self.state or self.label)

    def takes(self, name: str, grade: str, labels: Mapping[str, str]) -> bool:
        """Return whether a host is chosen."""
        name_, _, value = self.label.partition("=")
        return (
            self.text.casefold() in name.casefold()
            and self.state in ("", grade)
            and (not self.label or labels.get(name_) == value)
        )

    def group_of(self, name: str, labels: Mapping[str, str], packs: Collection[str]) -> str:
        """Return the group of a host; empty where hosts are not grouped.

        By name it is the part that names of similar hosts share: `WEB*` of `WEB01` and `WEB02.example.org`.
        """
        match self.group:
            case "":
                return ""
            case "name":
                short = name if re.fullmatch(r"[\d.:]+", name) else name.partition(".")[0]
                shared = _NUMBERED.sub("", short)
                return f"{shared}*" if shared and shared != short else short
            case "pack":
                return ", ".join(sorted(packs)) or "no pack"
            case other:
                return f"{other}={labels[other]}" if other in labels else f"without {other}"
