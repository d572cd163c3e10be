"""Patterns that people write for rules, hosts and instances."""

from fnmatch import fnmatchcase
from functools import lru_cache


@lru_cache(100_000)  # each silence is compared with all alerts that fire, which have few rules and hosts
def is_like(text: str, pattern: str) -> bool:
    """Whether a text matches a pattern, in which `*` is any text. Case does not matter.

    Brackets are not special: names of network adapters contain them.
    """
    return fnmatchcase(text.casefold(), pattern.casefold().replace("[", "[[]"))
