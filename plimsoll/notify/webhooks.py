"""Sends events to programs, to pagers by the incident's key, and in the format of Alertmanager's webhooks."""

import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import HTTPError

from plimsoll.model.errors import Unusable
from plimsoll.model.http_connections import find_last_cause
from plimsoll.model.times import format_iso
from plimsoll.notify.messages import Message, MessageEvent
from plimsoll.notify.redaction import redact_address

_TIMEOUT_S = 30.0
_NEVER = "0001-01-01T00:00:00Z"  # Alertmanager's end time of a firing alert
_SENT = range(200, 300)


class Alertmanager:
    """Sends messages in the format of Alertmanager's webhooks, version 4.

    The address is `alertmanager://user:password@host:port/path`, or `alertmanagers://` for TLS.
    """

    schemes: Mapping[str, str] = {"alertmanager": "http", "alertmanagers": "https"}

    def __init__(self, address: str, setting: str) -> None:
        parts = urlsplit(address)
        if not parts.hostname:
            raise Unusable(f"{setting}: {redact_address(address)} names no server; write alertmanagers://HOST/PATH")
        place = parts.netloc.rpartition("@")[2]
        self._address = (
            f"{self.schemes[parts.scheme.lower()]}://{place}{parts.path}{f'?{parts.query}' if parts.query else ''}"
        )
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        self._login = urllib3.make_headers(basic_auth=f"{user}:{password}") if user or password else {}
        self._name = setting.removesuffix(".url").rpartition("notify.")[2]

    def __call__(self, message: Message) -> str | None:
        """Send a message. Return None, or the reason why sending failed."""
        alerts = [_encode_event(event) for event in message.events] or [_encode_message(message)]
        firing = any(alert["status"] == "firing" for alert in alerts)
        document: dict[str, object] = {
            "version": "4",
            "groupKey": f"plimsoll/{self._name}",
            "truncatedAlerts": 0,
            "status": "firing" if firing else "resolved",
            "receiver": self._name,
            "groupLabels": {},
            "commonLabels": _select_common([alert["labels"] for alert in alerts]),
            "commonAnnotations": _select_common([alert["annotations"] for alert in alerts]),
            "externalURL": next((_find_page(event) for event in message.events if _find_page(event)), ""),
            "alerts": alerts,
        }
        return post(self._address, document, self._login)


# The sender of each scheme that Apprise does not deliver.
WEBHOOKS = dict.fromkeys(Alertmanager.schemes, Alertmanager)


def close_opsgenie(address: str, api_key: str, event: MessageEvent) -> str | None:
    """Close the alert with the event's key, by POST to Opsgenie's `address`. Return None, or why closing failed."""
    url = f"{address}/{quote(event.key, safe='')}/close?identifierType=alias"
    return post(url, {"source": "Plimsoll", "note": event.text[:25_000]}, {"Authorization": f"GenieKey {api_key}"})


def open_pool(address: str) -> urllib3.PoolManager:
    """Return a connection pool for an address, through the proxy set in the environment or the system, if any."""
    parts = urlsplit(address)
    proxy = getproxies().get(parts.scheme)
    if proxy and not proxy_bypass(parts.netloc):
        return urllib3.ProxyManager(proxy if "://" in proxy else f"http://{proxy}", retries=False)
    return urllib3.PoolManager(retries=False)


def post(address: str, content: Mapping[str, object], headers: Mapping[str, str]) -> str | None:
    """POST JSON, without following redirects. Return None, or the reason why the request failed."""
    try:
        with open_pool(address) as pool:
            answer = pool.request(
                "POST",
                address,
                body=json.dumps(content).encode(),
                headers={"Content-Type": "application/json", "User-Agent": "Plimsoll", **headers},
                timeout=_TIMEOUT_S,
                redirect=False,
            )
    except (OSError, ValueError, HTTPError) as error:
        return str(find_last_cause(error))
    return None if answer.status in _SENT else f"it answers {answer.status}"


def _encode_event(event: MessageEvent) -> dict[str, Any]:
    """Return an event as an alert in Alertmanager's format, with labels, annotations and times."""
    labels = {
        "alertname": event.worst.rule,
        "severity": event.worst.severity,
        "host": event.worst.host,
        "instance": event.worst.instance or event.worst.host,
        "signal": event.worst.signal,
        "kind": event.worst.kind,
    }
    ended = event.worst.ended_at if event.state == "resolved" else None
    return {
        "status": event.state,
        "labels": {name: value for name, value in labels.items() if value},
        "annotations": {"summary": event.title, "description": event.text},
        "startsAt": format_iso(event.worst.begin),
        "endsAt": _NEVER if ended is None else format_iso(ended),
        "generatorURL": _find_page(event),
        "fingerprint": event.key,
    }


def _encode_message(message: Message) -> dict[str, Any]:
    """Return an alert in Alertmanager's format for a message that is not about incidents, such as a test."""
    return {
        "status": "firing",
        "labels": {"alertname": "plimsoll", "severity": message.level},
        "annotations": {"summary": message.title, "description": message.body},
        "startsAt": format_iso(time.time_ns()),
        "endsAt": _NEVER,
        "generatorURL": "",
        "fingerprint": "plimsoll",
    }


def _find_page(event: MessageEvent) -> str:
    return event.link if event.link.startswith(("http://", "https://")) else ""


def _select_common(labels: list[dict[str, str]]) -> dict[str, str]:
    return {name: value for name, value in labels[0].items() if all(other.get(name) == value for other in labels)}
