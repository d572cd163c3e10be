"""OpenTelemetry's system metrics for Python leave waiting and niced time out, and call bytes pages.

opentelemetry-instrumentation-system-metrics 0.60b0, defaults. Guess: the states of `system.cpu.time` add up, processors
begin at 0, and `system.swap.usage` is in its unit. There are four states, idle, user, system and irq: nice,
iowait, softirq and steal are in none, so that the shares of a busy machine do not add up. Processors begin at 1.
`system.swap.usage` says `pages` and has bytes. Memory has used, free and cached, without buffers.

Seen: states idle, irq, system, user; processors from 1; unit `pages`; cached, free, used
"""

from pathlib import Path
from typing import Any

from common import expect, run_finding, use_python_packages


def probe(folder: Path) -> None:
    """Collect the metrics once."""
    use_python_packages(
        folder,
        "opentelemetry-sdk==1.39.0",
        "opentelemetry-instrumentation-system-metrics==0.60b0",
        "psutil==7.2.2",
    )
    import psutil
    from opentelemetry.instrumentation.system_metrics import SystemMetricsInstrumentor
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    reader = InMemoryMetricReader()
    SystemMetricsInstrumentor().instrument(meter_provider=MeterProvider(metric_readers=[reader]))
    metrics: dict[str, Any] = {
        metric.name: metric
        for resource in reader.get_metrics_data().resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    processors = [point.attributes for point in metrics["system.cpu.time"].data.data_points]
    expect(sorted({point["state"] for point in processors}), ["idle", "irq", "system", "user"], "states of processors")
    expect(min(point["cpu"] for point in processors), 1, "the first processor")
    swap = metrics["system.swap.usage"]
    expect(swap.unit, "pages", "unit of swap")
    free = next(point.value for point in swap.data.data_points if point.attributes["state"] == "free")
    expect(free, psutil.swap_memory().free, "free swap, in bytes by psutil")
    memory = {point.attributes["state"] for point in metrics["system.memory.usage"].data.data_points}
    expect(sorted(memory), ["cached", "free", "used"], "states of memory")


if __name__ == "__main__":
    run_finding(probe)
