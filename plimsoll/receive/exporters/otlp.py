"""Reads metrics that OpenTelemetry programs send by OTLP over HTTP, in protobuf or JSON.

https://opentelemetry.io/docs/specs/otlp, and metrics.proto of opentelemetry-proto.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsPartialSuccess,
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_DELTA

from plimsoll.model.times import SECOND
from plimsoll.receive.exporters.translate import AcceptedMetrics, NotMetrics, Translator, find_host, strip_port

_SCALARS = ("string_value", "bool_value", "int_value", "double_value")
# The attributes of a resource that name its host, the best first.
_HOST = ("host.name", "server.address", "net.host.name", "service.instance.id")
_SCRAPE_SPAN = SECOND // 2  # ns, our choice: half of the shortest interval at which hosts are scraped


def read(body: bytes, translator: Translator, *, is_json: bool, now: int) -> AcceptedMetrics:
    """Return the samples of an OTLP message. Raise NotMetrics if the message is malformed."""
    request = ExportMetricsServiceRequest()
    try:
        if is_json:
            json_format.Parse(body, request, ignore_unknown_fields=True)
        else:
            request.ParseFromString(body)
    except DecodeError as error:
        raise NotMetrics(f"protobuf: {error}") from None
    except (json_format.ParseError, ValueError, RecursionError) as error:
        raise NotMetrics(f"no message of OTLP in JSON: {type(error).__name__}") from None
    metrics = AcceptedMetrics(translator, now)
    by_host: dict[str, list[Any]] = {}
    for resource_metrics in request.resource_metrics:
        attributes = _list_labels(resource_metrics.resource.attributes)
        host = strip_port(next((attributes[name] for name in _HOST if attributes.get(name)), ""))
        by_host.setdefault(host, []).extend(
            metric for scope_metrics in resource_metrics.scope_metrics for metric in scope_metrics.metrics
        )
    for host, host_metrics in by_host.items():
        scrape_times = _group_scrape_times(
            point.time_unix_nano for metric in host_metrics for point in _list_points(metric)
        )
        for metric in host_metrics:
            _add_metric(metrics, metric, host, scrape_times)
    metrics.finish()
    return metrics


def encode_response(rejected: int, reason: str, *, is_json: bool) -> bytes:
    """Return the body of a response: empty, or with `reason` a partial success that names the rejected points."""
    partial = ExportMetricsPartialSuccess(rejected_data_points=rejected, error_message=reason) if reason else None
    answer = ExportMetricsServiceResponse(partial_success=partial)
    return json.dumps(json_format.MessageToDict(answer)).encode() if is_json else answer.SerializeToString()


def encode_error(message: str) -> bytes:
    """Return a google.rpc.Status for an error, encoded as a partial success, whose field numbers are the same."""
    return ExportMetricsPartialSuccess(error_message=message).SerializeToString()


def _group_scrape_times(times: Iterable[int]) -> dict[int, int]:
    """Return, for each sample time (UTC ns) of a host, its scrape time: the earliest of times that are close together.

    The collector's hostmetrics receiver stamps each scraper separately, up to 30 ms apart in one message (0.165.0). A
    field computed from the samples of two scrapers needs one common time.
    """
    scrape_times: dict[int, int] = {}
    first = 0
    for time in sorted(set(times)):
        if time - first > _SCRAPE_SPAN:
            first = time
        scrape_times[time] = first
    return scrape_times


def _list_points(metric: Any) -> Sequence[Any]:
    return metric.gauge.data_points or metric.sum.data_points


def _add_metric(metrics: AcceptedMetrics, metric: Any, host: str, scrape_times: Mapping[int, int]) -> None:
    """Add the samples of a metric. `host` is the resource's host; if `host` is empty, the labels name the host."""
    if metric.WhichOneof("data") not in ("sum", "gauge"):
        metrics.histograms += 1
        return
    points = _list_points(metric)
    is_delta = metric.sum.aggregation_temporality == AGGREGATION_TEMPORALITY_DELTA
    if is_delta or metric.name not in metrics.metric_names:
        metrics.deltas += len(points) if metric.name in metrics.metric_names else 0
        metrics.leave_out(f"{metric.name} (delta)" if is_delta else metric.name, len(points))
        return
    for point in points:
        labels = _list_labels(point.attributes)
        name, own_host = metric.name, host or find_host(labels)
        metrics.add(
            (own_host, name, *sorted(labels.items())),
            lambda name=name, labels=labels, own_host=own_host: (name, labels, own_host),
            [
                (scrape_times[point.time_unix_nano], float(getattr(point, kind)))
                for kind in [point.WhichOneof("value")]
                if kind
            ],
        )


def _list_labels(attributes: Iterable[Any]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for attribute in attributes:
        kind = attribute.value.WhichOneof("value")
        value = getattr(attribute.value, kind) if kind in _SCALARS else ""
        labels[attribute.key] = str(value).lower() if kind == "bool_value" else str(value)
    return labels
