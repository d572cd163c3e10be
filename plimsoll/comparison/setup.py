"""What was set up differently in two runs: their labels, and the facts that are known of their hosts."""

from dataclasses import dataclass

from plimsoll.comparison.hosts import Hosts
from plimsoll.review.review import Review


@dataclass(frozen=True)
class Changed:
    """A label or a fact of a host that differs; a dash where a run has none."""

    what: str
    first: str
    second: str

    @property
    def text(self) -> str:
        """`memory 8GB → 4GB`."""
        return f"{self.what} {self.first} → {self.second}"


def set_differently(first: Review, second: Review, hosts: Hosts) -> tuple[Changed, ...]:
    """The labels that differ, then the facts of each host."""
    here, there = first.run.labels, second.run.labels
    labels = [
        Changed(name, here.get(name, "–"), there.get(name, "–"))
        for name in dict.fromkeys((*here, *there))
        if here.get(name) != there.get(name)
    ]
    facts: list[Changed] = []
    for left, right in hosts.pairs:
        known, other = first.facts.of_host(left), second.facts.of_host(right)
        gone = [_bare(one) for one in known if one not in other]
        new = [_bare(one) for one in other if one not in known]
        if gone != new:
            facts.append(Changed(left, ", ".join(gone) or "–", ", ".join(new) or "–"))
    return (*labels, *facts)


def _bare(fact: str) -> str:
    """A fact without where it is from."""
    return fact.rpartition(" (")[0] or fact
