"""Perfmon counter paths, and the names that Telegraf's `win_perf_counters` gives them."""

import re
from functools import lru_cache
from typing import NamedTuple

TOTAL = "_Total"
EACH_INSTANCE = "*"  # the instance of a path that stands for every instance except totals
SQL_DEFAULT = "SQLServer"
SQL_NAMED = "MSSQL$"
# Fast path for nearly all paths: no bracket or backslash inside an instance.
_PLAIN = re.compile(r"\\\\([^\\]+)\\([^\\()]+)(?:\(([^\\()]*)\))?\\([^\\]+)", re.DOTALL)
_REPLACEMENTS = {"/sec": "_persec", "/Sec": "_persec", " ": "_", "%": "Percent", "\\": ""}
_REPLACED = re.compile("|".join(map(re.escape, _REPLACEMENTS)))


class CounterPath(NamedTuple):
    r"""`\\Computer\Object(Instance)\Counter`; computer and instance may be None. `()` counts as no instance."""

    computer: str | None
    object: str
    instance: str | None
    counter: str

    @classmethod
    def parse(cls, text: str) -> "CounterPath":
        """Parse a path. Raise ValueError if the text is no path.

        Instances may contain backslashes and brackets of any kind, even unbalanced ones. So the path is read from the
        right: the counter, then a bracketed instance, then the object.
        """
        if plain := _PLAIN.fullmatch(text):
            computer, object_, instance, counter = plain.groups()
            return cls(computer, object_, instance or None, counter)
        rest, computer = text, None
        if rest.startswith("\\\\"):
            computer, slash, rest = rest[2:].partition("\\")
            rest = slash + rest
        if not rest.startswith("\\") or computer == "":
            raise ValueError(f'"{text}" is not a counter path')
        rest = rest.lstrip("\\")
        head, _, counter = rest.rpartition("\\")
        if head.endswith(")"):
            object_, instance = _split_instance(head)
        else:
            object_, _, counter = rest.partition("\\")
            instance = None
        if not object_ or not counter:
            raise ValueError(f'"{text}" is not a counter path')
        return cls(computer, object_, instance or None, counter)

    def __str__(self) -> str:
        computer = f"\\\\{self.computer}" if self.computer else ""
        instance = f"({self.instance})" if self.instance is not None else ""
        return f"{computer}\\{self.object}{instance}\\{self.counter}"


def _split_instance(head: str) -> tuple[str, str]:
    if head.count("(") == 1 == head.count(")"):
        object_, _, instance = head[:-1].partition("(")
        return object_, instance
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        depth += (head[at] == ")") - (head[at] == "(")
        if depth == 0 and head[:at].count("(") == head[:at].count(")"):
            return head[:at], head[at + 1 : -1]
    object_, _, instance = head[:-1].partition("(")
    return object_, instance


def make_telegraf_name(name: str) -> str:
    """Return a counter or measurement name as `win_perf_counters` writes it."""
    return _REPLACED.sub(lambda match: _REPLACEMENTS[match[0]], name)


@lru_cache(1024)
def split_object(object_: str) -> tuple[str, str | None]:
    """Return an object's name as on SQL Server's default instance, and the name of the SQL Server instance, else None.

    `MSSQL$PAYROLL:Buffer Manager` gives `SQLServer:Buffer Manager` and `PAYROLL`; any other object gives its own name
    and None.
    """
    if object_[: len(SQL_NAMED)].casefold() == SQL_NAMED.casefold() and ":" in object_:
        instance, _, rest = object_[len(SQL_NAMED) :].partition(":")
        return f"{SQL_DEFAULT}:{rest}", instance
    return object_, None
