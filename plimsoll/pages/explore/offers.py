"""Finds series by words: signals of hosts, and series as they were sent."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from plimsoll.model.host_key import host_key
from plimsoll.pages.charts.chart_spec import Spec
from plimsoll.pages.charts.hosts_in_range import Scene
from plimsoll.pages.charts.raw_series import raw_instance, raw_name, raw_signal
from plimsoll.rules.subjects import host_of, host_tags

MOST = 40  # of each kind
_MOST_HOSTS = 50  # whose signals are looked at


@dataclass(frozen=True, slots=True)
class Offer:
    """A line that can be added: what it is, of which host, and its spec."""

    title: str
    host: str
    spec: str
    is_signal: bool


def offers(scene: Scene, text: str) -> list[Offer]:
    """The lines whose names have all words of a text: signals first, then what was sent."""
    words = text.casefold().split()
    if not words:
        return []
    return [*islice(_signals(scene, words), MOST), *islice(_sent(scene, words), MOST)]


def _signals(scene: Scene, words: Sequence[str]) -> Iterator[Offer]:
    """The signals of hosts: what a name or title lacks of the words, the name of the host must have.

    Signals that have more of the words themselves come first.
    """
    left = {
        name: [word for word in words if word not in f"{name} {signal.title}".casefold()]
        for name, signal in scene.signals.items()
        if signal.fact is None  # a constant, which has no samples
    }
    hosts = {host: host_key(host) for host in scene.hosts}
    for name in sorted(left, key=lambda one: (len(left[one]), len(one), one)):
        named = [host for host, key in hosts.items() if all(word in key for word in left[name])]
        for host in named[:_MOST_HOSTS]:
            spec = Spec(name, (host,))
            if scene.has(spec):
                yield Offer(scene.signals[name].title, host, str(spec), True)


def _sent(scene: Scene, words: Sequence[str]) -> Iterator[Offer]:
    """The series as they were sent, by host and name."""
    tags = host_tags(scene.signals)
    for one in scene.series:
        instance, host = raw_instance(one), host_of(one, tags)
        text = f"{host} {one.measurement} {one.field} {instance or ''}".casefold()
        if all(word in text for word in words):
            title = raw_signal(raw_name(one)).title
            spec = Spec(raw_name(one), (host,), instance)
            yield Offer(f"{title}, {instance}" if instance else title, host, str(spec), False)
