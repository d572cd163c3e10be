"""What a chart shows, as addresses name it: `cpu.busy|WEB1`, `disk.free|WEB1|C:`, `cpu.busy|*`; or a series as it was
sent: `mem~available|WEB1`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from plimsoll.model.errors import Unusable

ALL = "*"
_LONGEST = 4000


@dataclass(frozen=True)
class Spec:
    """A signal of one host, several, or all (none are named), of one instance of it or all.

    `drive`: only disks that plimsoll.toml marks as holding this.
    """

    signal: str
    hosts: tuple[str, ...] = ()
    instance: str | None = None
    drive: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Spec":
        """Read a spec whose names are quoted as in URLs. Unusable if it is none."""
        parts = text.split("|")
        if not 1 <= len(parts) <= 3 or not parts[0] or len(text) > _LONGEST:
            raise Unusable(f'"{text[:100]}" names no chart; write cpu.busy|HOST, disk.free|HOST|C: or cpu.busy|*')
        signal, _, drive = parts[0].partition("@")
        hosts = parts[1] if len(parts) > 1 else ALL
        named = () if hosts in ("", ALL) else tuple(unquote(host) for host in hosts.split(","))
        instance = unquote(parts[2]) if len(parts) > 2 and parts[2] else None
        return cls(unquote(signal), named, instance, drive or None)

    def __str__(self) -> str:
        signal = f"{_quoted(self.signal)}@{self.drive}" if self.drive else _quoted(self.signal)
        hosts = ",".join(map(_quoted, self.hosts)) or ALL
        instance = [_quoted(self.instance)] if self.instance is not None else []
        return "|".join([signal, hosts, *instance])


def parse_lines(text: str) -> Sequence[Spec]:
    """The specs of one chart: one, or several separated by `;`, whose lines it shows together."""
    return [Spec.parse(one) for one in text.split(";")]


def _quoted(name: str) -> str:
    return quote(name, safe="")
