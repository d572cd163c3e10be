"""Reads what Prometheus, Grafana Alloy and others send by Prometheus' remote write, version 1 and 2.

https://prometheus.io/docs/specs/prw/remote_write_spec and its successor, remote_write_spec_2_0.
"""

from plimsoll.receive.exporters.names import host_of
from plimsoll.receive.exporters.protobuf import NotProtobuf, fields, packed
from plimsoll.receive.exporters.taken import Taken
from plimsoll.receive.exporters.translate import Translator

V2 = "io.prometheus.write.v2.Request"
V1 = "prometheus.WriteRequest"
_MS = 1_000_000
_NAME = "__name__"


def read(message: bytes, translator: Translator, *, second: bool, now: int) -> Taken:
    """The samples of a message, of version 2 if `second`. NotProtobuf if it is none."""
    taken = Taken(translator, now)
    (_read_second if second else _read_first)(message, taken)
    taken.finish()
    return taken


def _read_first(message: bytes, taken: Taken) -> None:
    for series in fields(message):
        if series.number != 1:
            continue
        labels: list[bytes] = []
        samples: list[tuple[int, float]] = []
        for part in fields(series.bytes):
            if part.number == 1:
                labels.append(part.bytes)
            elif part.number == 2:
                samples.append(_sample(part.bytes))
            elif part.number == 4:
                taken.histograms += 1
        name = _name_first(labels)
        if not samples or (name is not None and name not in taken.known):
            taken.leave_out(name or "", len(samples))
            continue
        taken.add(b"".join(labels), lambda labels=labels: _series(map(_label, labels)), samples)


def _name_first(labels: list[bytes]) -> str | None:
    """The name of a metric, if that is the first label."""
    first = labels[0] if labels else b""
    if not first.startswith(b"\x0a\x08__name__\x12"):
        return None
    name = first[12:] if len(first) < 140 else first[12 + (first[11] >= 0x80) :]
    return name.decode("utf-8", "replace")


def _label(data: bytes) -> tuple[str, str]:
    name = value = ""
    for part in fields(data):
        if part.number == 1:
            name = part.text
        elif part.number == 2:
            value = part.text
    return name, value


def _read_second(message: bytes, taken: Taken) -> None:
    found = [*fields(message)]
    symbols = [one.text for one in found if one.number == 4]
    for series in found:
        if series.number != 5:
            continue
        refs: list[int] = []
        samples: list[tuple[int, float]] = []
        for part in fields(series.bytes):
            if part.number == 1:
                refs += packed(part)
            elif part.number == 2:
                samples.append(_sample(part.bytes))
            elif part.number == 3:
                taken.histograms += 1
        if len(refs) % 2 or any(ref >= len(symbols) for ref in refs):
            raise NotProtobuf("a label is none of the symbols")
        told = [symbols[ref] for ref in refs]
        pairs = [*zip(told[::2], told[1::2], strict=True)]
        name = dict(pairs).get(_NAME, "")
        if not samples or name not in taken.known:
            taken.leave_out(name, len(samples))
            continue
        taken.add(tuple(told), lambda pairs=pairs: _series(pairs), samples)


def _sample(data: bytes) -> tuple[int, float]:
    time, value = 0, 0.0
    for part in fields(data):
        if part.number == 1:
            value = part.double
        elif part.number == 2:
            time = part.signed * _MS
    return time, value


def _series(pairs: "map[tuple[str, str]] | list[tuple[str, str]]") -> tuple[str, dict[str, str], str]:
    labels = dict(pairs)
    return labels.get(_NAME, ""), labels, host_of(labels)
