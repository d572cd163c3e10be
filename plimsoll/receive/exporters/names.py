"""The series that a metric with its labels becomes."""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from plimsoll.model.names import measurement
from plimsoll.model.perfmon import telegraf_name
from plimsoll.model.series import Series
from plimsoll.rules.exporters.schema import Group, exporters, metric_names
from plimsoll.rules.schema.signal import Signal

# Labels that Prometheus adds, and those of the host.
HOST_LABELS = ("host", "hostname", "host_name", "host.name", "nodename")
_OF_SCRAPES = ("__name__", "job", "exported_job", *HOST_LABELS)
_INSTANCE = "instance"


class Use(NamedTuple):
    """What a metric is in a group: its name in formulas, and the fields that are the metric itself, with a factor."""

    group: Group
    metric: str
    labels: tuple[tuple[str, str], ...]
    plain: tuple[tuple[str, float], ...]
    computed: bool

    def is_of(self, labels: Mapping[str, str]) -> bool:
        """Whether a series with these labels is meant."""
        return all(labels.get(name) == value for name, value in self.labels) and not any(
            fnmatchcase(labels.get(label, ""), pattern)
            for label, patterns in self.group.but.items()
            for pattern in patterns
        )


class MetricNames:
    """What metrics are called in Telegraf: those of exporters, and those of Telegraf's prometheus_client."""

    def __init__(self, signals: Mapping[str, Signal]) -> None:
        self._uses: dict[str, list[Use]] = {}
        for exporter in exporters().values():
            for group in exporter.groups:
                for name, use in _uses(group):
                    self._uses.setdefault(name, []).append(use)
        self._telegraf = dict(_of_telegraf(signals))
        self.known = frozenset((*self._uses, *self._telegraf))

    def uses(self, name: str) -> Sequence[Use]:
        """What a metric of an exporter is used for."""
        return self._uses.get(name, ())

    def as_telegraf(self, name: str, labels: Mapping[str, str], host: str) -> Series | None:
        """The series of a metric that Telegraf itself gives; None if it is none."""
        found = self._telegraf.get(name)
        if found is None:
            return None
        kept = {label: value for label, value in labels.items() if label not in _OF_SCRAPES and value}
        own = kept.pop(f"exported_{_INSTANCE}", None)
        if own is not None:
            kept[_INSTANCE] = own
        elif not found[0].startswith("win_") or _is_address(kept.get(_INSTANCE, "")):
            kept.pop(_INSTANCE, None)
        return Series(host, *found[:1], tuple(sorted(kept.items())), found[1])


def host_of(labels: Mapping[str, str]) -> str:
    """The host that labels name: its own label, or the address that was scraped, without the port."""
    for name in HOST_LABELS:
        if labels.get(name):
            return labels[name]
    return without_port(labels.get(_INSTANCE, ""))


def without_port(address: str) -> str:
    """`app01` of `app01:9100`; an address of IPv6 without its brackets."""
    head, colon, port = address.rpartition(":")
    if colon and port.isdecimal() and (head.endswith("]") or ":" not in head):
        address = head
    return address.removeprefix("[").removesuffix("]")


def _is_address(instance: str) -> bool:
    return without_port(instance) != instance


def _uses(group: Group) -> Iterator[tuple[str, Use]]:
    direct = not group.over and not group.when
    for key, sources in group.sources.items():
        plain: list[tuple[str, float]] = []
        computed = any(key in by for by in group.when.values())
        for field, formulas in group.formulas.items():
            simple = formulas[0].plain if direct and len(formulas) == 1 else None
            if simple and simple[0] == key:
                plain.append((field, simple[1]))
            elif not simple:
                computed = computed or any(key in one.names for one in formulas)
        for metric in sources:
            yield metric.name, Use(group, key, metric.labels, tuple(plain), computed)


def _of_telegraf(signals: Mapping[str, Signal]) -> Iterator[tuple[str, tuple[str, str]]]:
    """The names that prometheus_client gives to the fields that signals read."""
    for signal in signals.values():
        for source in signal.sources:
            if source.path:
                places = [(measurement(source.path.object), telegraf_name(source.path.counter))]
            else:
                places = [(source.measurement or "", field) for field in source.fields]
            for of, field in places:
                for name in metric_names(of, field):
                    yield name, (of, field)
