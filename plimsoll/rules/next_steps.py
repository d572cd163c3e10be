"""What to do next about a crossed rule or a doubt: clauses that name a command or a place, from a table."""

import re
from functools import cache

from plimsoll.model.shipped_tables import load_shipped_table
from plimsoll.rules.schema.pack import Rule


@cache
def _load_steps() -> dict[str, dict[str, str]]:
    return load_shipped_table("plimsoll.rules", "next_steps.yaml", dict[str, dict[str, str]])


def find_step(rule: Rule, host: str) -> str:
    """Return what to do about a crossing of the rule: `on web01, list ...`, or without a host `list ...`.

    The text is empty for rules of a pack of the user.
    """
    steps = _load_steps()["rules"]
    prefixes = [prefix for prefix in steps if rule.id.startswith(prefix) or rule.signal.startswith(prefix)]
    step = steps[max(prefixes, key=len)] if prefixes else ""
    return f"on {host}, {step}" if host and step else step


def find_step_of_doubt(sentence: str) -> str:
    """Return what to do about a doubt by the first words of the table that are in it, unquoted; empty without any."""
    sentence = re.sub("“.*?”", "", sentence)  # names and messages, which may hold any words
    return next((step for words, step in _load_steps()["doubts"].items() if words in sentence), "")
