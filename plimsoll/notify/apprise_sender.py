"""Sends messages with apprise: mail, webhooks, chat, pagers.

PagerDuty and Opsgenie handle incidents by a key: they get an event when an incident fires, and a second event when it
is over. A JSON webhook gets the fields of all alerts besides the text.
"""

import logging
from collections.abc import Callable
from functools import partial

import apprise
from apprise.plugins.custom_json import NotifyJSON
from apprise.plugins.opsgenie import OPSGENIE_API_LOOKUP, NotifyOpsgenie
from apprise.plugins.pagerduty import NotifyPagerDuty

from plimsoll.model.errors import Unusable, escape
from plimsoll.notify.messages import Message, MessageEvent, Value, list_alert_fields
from plimsoll.notify.redaction import redact_address
from plimsoll.notify.webhooks import close_opsgenie

_TIMEOUT_S = 60
_ANSWER_S = 30.0  # apprise waits 4 s, and would send what arrived again
_APART_S = 0.5  # between two events; PagerDuty takes 120 a minute
_TYPES = {
    "critical": apprise.NotifyType.FAILURE,
    "warning": apprise.NotifyType.WARNING,
    "info": apprise.NotifyType.INFO,
    "recovered": apprise.NotifyType.SUCCESS,
}
_PRIORITIES = {"critical": 1, "warning": 3, "info": 5}  # Opsgenie's region, unless the address names one
_log = logging.getLogger(__name__)


def make_apprise_sender(address: str, setting: str) -> Callable[[Message], str | None]:
    """Return apprise's sender for an address; its errors may show secrets. Raise Unusable if it is invalid."""
    asset = apprise.AppriseAsset(
        app_id="Plimsoll", app_desc="Plimsoll", app_url="", image_url_mask="", image_url_logo="", plugin_paths=()
    )
    plugin = apprise.Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
    if plugin is None:
        raise Unusable(
            f"{setting}: apprise cannot use the address {redact_address(address)}: its kind is not known, or a part is "
            "missing; https://github.com/caronc/apprise/wiki lists them, and a webhook of your own is json://HOST/PATH"
        )
    if "rto=" not in address:
        plugin.socket_read_timeout = _ANSWER_S
    if isinstance(plugin, NotifyPagerDuty | NotifyOpsgenie):
        plugin.request_rate_per_sec = _APART_S
    own_fields = dict(plugin.payload_extras) if isinstance(plugin, NotifyJSON) else {}
    plugin.redirects = False  # a message that is led elsewhere would arrive without its text, and with our secrets
    plugin.overflow_mode = apprise.OverflowMode.TRUNCATE  # a long text must not become many messages
    if address.strip().casefold().startswith("mailto://"):
        _log.warning("%s: mailto:// may send the password and the alerts in clear text: write mailtos://", setting)
    target = apprise.Apprise(asset=asset)
    target.add(plugin)

    def send(message: Message) -> str | None:
        if not message.events:
            return deliver(message)
        if isinstance(plugin, NotifyPagerDuty):
            return _send_events(message, partial(page_pagerduty, plugin))
        if isinstance(plugin, NotifyOpsgenie):
            return _send_events(message, partial(page_opsgenie, plugin))
        if isinstance(plugin, NotifyJSON):
            alerts = [list_alert_fields(alert, event) for event in message.events for alert in event.alerts]
            plugin.payload_extras = {
                **alerts[0],
                "alerts": alerts,
                **own_fields,
            }  # the most severe one, then every alert
        return deliver(message)

    def page_pagerduty(plugin: NotifyPagerDuty, event: MessageEvent) -> str | None:
        plugin.dedup, plugin.action = event.key, "map"
        plugin.source = escape(event.worst.host) or "plimsoll"
        plugin.component = event.worst.details.title or event.worst.rule
        plugin.click = event.link if event.link.startswith("http") else None
        plugin.details = {"text": event.text, **_select_present_fields(event)}
        return deliver(Message("", event.title, "recovered" if event.state == "resolved" else event.worst.severity))

    def page_opsgenie(plugin: NotifyOpsgenie, event: MessageEvent) -> str | None:
        if event.state == "resolved":
            return close_opsgenie(OPSGENIE_API_LOOKUP[plugin.region_name or "us"], str(plugin.apikey), event)
        plugin.alias, plugin.entity = event.key, escape(event.worst.host)
        if "priority=" not in address:
            plugin.priority = _PRIORITIES[event.worst.severity]
        plugin.details = {name: str(value) for name, value in _select_present_fields(event).items()}
        return deliver(Message(event.title, event.text, event.worst.severity))

    def deliver(message: Message) -> str | None:
        """Send a message as text. Return None, or apprise's warnings if sending fails."""
        warnings: list[str] = []
        try:
            done = target.notify(
                body=message.body,
                title=message.title,
                notify_type=_TYPES[message.level],
                body_format=apprise.NotifyFormat.TEXT,
                timeout=_TIMEOUT_S,
                log_callback=lambda entry, _: warnings.append(entry.message),
                log_level=logging.WARNING,
            )
        except Exception as error:  # a plugin's errors must not stop notifications
            return f"{type(error).__name__}: {error}"
        return None if done else "; ".join(warnings) or "no reason is known"

    return send


def _send_events(message: Message, send: Callable[[MessageEvent], str | None]) -> str | None:
    """Send a message's events one by one. Return None, or why an event failed.

    The next attempt sends all events again; receivers recognise repeated events by their keys.
    """
    return next((why for why in map(send, message.events) if why is not None), None)


def _select_present_fields(event: MessageEvent) -> dict[str, Value]:
    return {name: value for name, value in list_alert_fields(event.worst, event).items() if value is not None}
