"""Sends messages with apprise: mail, webhooks, chat, pagers."""

import logging
from collections.abc import Callable
from typing import TypeAlias

import apprise

from plimsoll.model.errors import Unusable, printable
from plimsoll.notify.messages import Message
from plimsoll.notify.redaction import hide, hide_in_logs, redacted
from plimsoll.notify.settings import UpSettings

_TIMEOUT_S = 60
_MOST_OF_REASON = 300
_TYPES = {
    "critical": apprise.NotifyType.FAILURE,
    "warning": apprise.NotifyType.WARNING,
    "info": apprise.NotifyType.INFO,
    "recovered": apprise.NotifyType.SUCCESS,
}

_log = logging.getLogger(__name__)

# Sends a message; returns why it could not, without any secret, or None.
Send: TypeAlias = Callable[[Message], str | None]


def senders(settings: UpSettings, file_name: str) -> dict[str, Send]:
    """A sender for each target of up.toml. Unusable, naming the setting, if apprise cannot use an address."""
    hide_in_logs(settings.addresses)
    return {
        name: sender(one.url.get_secret_value(), f"{file_name}: notify.{name}.url")
        for name, one in settings.notify.items()
    }


def sender(address: str, setting: str) -> Send:
    """The sender for one address. Unusable, naming the setting, if apprise cannot use it."""
    asset = apprise.AppriseAsset(
        app_id="Plimsoll", app_desc="Plimsoll", app_url="", image_url_mask="", image_url_logo="", plugin_paths=()
    )
    plugin = apprise.Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
    if plugin is None:
        raise Unusable(
            f"{setting}: apprise cannot use the address {redacted(address)}: its kind is not known, or a part is "
            "missing; https://github.com/caronc/apprise/wiki lists them"
        )
    plugin.redirects = False  # a message that is led elsewhere would arrive without its text, and with our secrets
    plugin.overflow_mode = apprise.OverflowMode.TRUNCATE  # a long text must not become many messages
    if address.strip().casefold().startswith("mailto://"):
        _log.warning("%s: mailto:// may send the password and the alerts in clear text: write mailtos://", setting)
    target = apprise.Apprise(asset=asset)
    target.add(plugin)

    def send(message: Message) -> str | None:
        said: list[str] = []
        try:
            done = target.notify(
                body=message.body,
                title=message.title,
                notify_type=_TYPES[message.level],
                body_format=apprise.NotifyFormat.TEXT,
                timeout=_TIMEOUT_S,
                log_callback=lambda entry, _: said.append(entry.message),
                log_level=logging.WARNING,
            )
        except Exception as error:  # a plugin's own mistakes must not end the notifying
            return _reason(f"{type(error).__name__}: {error}", address)
        return None if done else _reason("; ".join(said) or "no reason is known", address)

    return send


def _reason(text: str, address: str) -> str:
    return printable(hide(" ".join(text.split()), (address,))).rstrip(" .")[:_MOST_OF_REASON]
