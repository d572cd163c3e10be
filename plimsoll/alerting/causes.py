"""What is wrong with a host, in a sentence, and how sure that is: what people read before any value."""

from collections.abc import Mapping

from plimsoll.alerting.alert import Alert
from plimsoll.alerting.firing import Incident
from plimsoll.alerting.latest_evaluation import LatestEvaluation
from plimsoll.model.remark import counted, listed
from plimsoll.model.series import host_key
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.states import State

_WORDS = {
    "cpu": "{host} is short of processors",
    "memory": "{host} has too little memory",
    "disk": "{disk} cannot keep up",
    "io": "{disk} cannot keep up",
    "space": "{disk} is running out of space",
    "network": "The network of {host} is near what it can carry",
    "software": "{host} waits inside its software",
}
# Nothing can be concluded about a resource from one processor or process, nor from what another guest takes.
_OF_ITSELF = ("process.cpu", "cpu.processor_busy", "cpu.steal")
_RESOURCES = {"cpu": "processors", "memory": "memory", "disk": "disks"}


def cause(alert: Alert) -> str:
    """The cause without a full stop: `SQLSRV01 has too little memory`."""
    match alert.kind:
        case "host-silent":
            return f"{alert.host} sends {'samples of a wrong time' if alert.details.note else 'no samples'}"
        case "all-silent":
            return "No host sends samples"
        case "plimsoll":
            return alert.details.title
        case "flapping":
            return f"{alert.host} passes a limit again and again"
        case "rule":
            # Where no resource is short, its rule says what a crossing means.
            summary = alert.details.summary.partition(". ")[0].rstrip(".")
            return short_resource(alert) or f"{alert.host}: {summary or alert.details.title}"


def short_resource(alert: Alert) -> str:
    """Which resource is short, where the alert tells that: `SQLSRV01 has too little memory`; else empty."""
    if alert.kind != "rule" or alert.signal in _OF_ITSELF:
        return ""
    return _WORDS.get(alert.details.cause, "").format(host=alert.host, disk=_disk(alert))


def certainty(incident: Incident) -> str:
    """How much speaks for the cause: `3 signals say so`; empty for what is no inference."""
    if incident.worst.kind != "rule":
        return ""
    count = len({one.signal for one in incident.alerts})
    return f"{counted(count, 'signal')} {'says' if count == 1 else 'say'} so"


def unjudged(host: str, judged: LatestEvaluation, signals: Mapping[str, Signal]) -> str:
    """Which resources of a host no limit judges now: `memory and disks not judged`; empty if all are."""
    have = {
        _resource(signals[one.rule.signal])
        for one in judged.on(host_key(host))
        if one.state != State.NO_DATA and one.rule.severity != "info"
    }
    lacking = [word for resource, word in _RESOURCES.items() if resource not in have]
    return f"{listed(lacking, len(lacking))} not judged" if lacking else ""


def _resource(signal: Signal) -> str | None:
    return signal.resource or (signal.pressure.resource if signal.pressure else None)


def _disk(alert: Alert) -> str:
    return f"{alert.instance} of {alert.host}" if alert.instance else f"A disk of {alert.host}"
