"""Reads remote write 1.0 and 2.0, in which Prometheus, Grafana Alloy and others send samples.

https://prometheus.io/docs/specs/prw/remote_write_spec and remote_write_spec_2_0. Field numbers are those of
prompb/types.proto and io/prometheus/write/v2/types.proto; fields that are not used are not declared.
"""

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from plimsoll.receive.exporters.translate import AcceptedMetrics, NotMetrics, Translator, find_host

V2 = "io.prometheus.write.v2.Request"
V1 = "prometheus.WriteRequest"
_MS = 1_000_000
_NAME = "__name__"
_TYPES = {
    "string": FieldDescriptorProto.TYPE_STRING,
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "uint32": FieldDescriptorProto.TYPE_UINT32,
}
_SAMPLE = {"value": (1, "double"), "timestamp": (2, "int64")}
_MESSAGES: Mapping[str, Mapping[str, Mapping[str, tuple[int, str]]]] = {
    "prometheus": {
        "WriteRequest": {"timeseries": (1, "TimeSeries*")},
        "TimeSeries": {"labels": (1, "Label*"), "samples": (2, "Sample*"), "histograms": (4, "Histogram*")},
        "Label": {"name": (1, "string"), "value": (2, "string")},
        "Sample": _SAMPLE,
        "Histogram": {},
    },
    "io.prometheus.write.v2": {
        "Request": {"symbols": (4, "string*"), "timeseries": (5, "TimeSeries*")},
        "TimeSeries": {"labels_refs": (1, "uint32*"), "samples": (2, "Sample*"), "histograms": (3, "Histogram*")},
        "Sample": _SAMPLE,
        "Histogram": {},
    },
}


def _build_message_classes() -> Mapping[str, Any]:
    """Return the protobuf classes of both versions, built from `_MESSAGES`."""
    pool = DescriptorPool()
    for package, messages in _MESSAGES.items():
        file = FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
        for name, fields in messages.items():
            message = file.message_type.add(name=name)
            for field_name, (number, kind) in fields.items():
                field = message.field.add(name=field_name, number=number)
                field.label = field.LABEL_REPEATED if kind.endswith("*") else field.LABEL_OPTIONAL
                if scalar := _TYPES.get(kind.removesuffix("*")):
                    field.type = scalar
                else:
                    field.type, field.type_name = field.TYPE_MESSAGE, f".{package}.{kind.removesuffix('*')}"
        pool.Add(file)
    return {name: GetMessageClass(pool.FindMessageTypeByName(name)) for name in (V1, V2)}


_CLASSES = _build_message_classes()


def read(message: bytes, translator: Translator, *, version: str, now: int) -> AcceptedMetrics:
    """Return the samples of a remote write message of version V1 or V2. Raise NotMetrics if it is malformed."""
    try:
        request = _CLASSES[version].FromString(message)
    except DecodeError as error:
        raise NotMetrics(f"protobuf: {error}") from None
    metrics = AcceptedMetrics(translator, now)
    symbols: list[str] = [*request.symbols] if version == V2 else []
    for series in request.timeseries:
        metrics.histograms += len(series.histograms)
        labels: dict[str, str]
        if version == V2:
            refs = series.labels_refs
            if len(refs) % 2 or any(ref >= len(symbols) for ref in refs):
                raise NotMetrics("a label is none of the symbols")
            labels = {symbols[name]: symbols[value] for name, value in zip(refs[::2], refs[1::2], strict=True)}
        else:
            labels = {label.name: label.value for label in series.labels}
        name = labels.get(_NAME, "")
        if not series.samples or name not in metrics.metric_names:
            metrics.leave_out(name, len(series.samples))
            continue
        metrics.add(
            tuple(labels.items()),
            lambda name=name, labels=labels: (name, labels, find_host(labels)),
            [(sample.timestamp * _MS, sample.value) for sample in series.samples],
        )
    metrics.finish()
    return metrics
