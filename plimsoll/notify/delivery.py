"""Makes the senders of notifications: by apprise, which is imported when an address needs it, or by webhooks."""

from collections.abc import Callable
from typing import TypeAlias

from plimsoll.model.errors import escape
from plimsoll.model.lazy_imports import import_later
from plimsoll.notify.messages import Message
from plimsoll.notify.redaction import hide, hide_in_logs
from plimsoll.notify.settings import NotifySettings
from plimsoll.notify.webhooks import WEBHOOKS

_MOST_OF_REASON = 300
_apprise = import_later("plimsoll.notify.apprise_sender")
# Sends a message. Returns why that failed, without any secret; None if it succeeded.
Send: TypeAlias = Callable[[Message], str | None]


def make_senders(settings: NotifySettings, file_name: str) -> dict[str, Send]:
    """Return the sender of each target of up.toml. Raise Unusable, naming the setting, for an invalid address."""
    hide_in_logs(settings.addresses)
    return {
        name: make_sender(target_settings.url.get_secret_value(), f"{file_name}: notify.{name}.url")
        for name, target_settings in settings.notify.items()
    }


def make_sender(address: str, setting: str) -> Send:
    """Return the sender for an address, whose errors do not show secrets. Raise Unusable if apprise cannot use it."""
    webhook = WEBHOOKS.get(address.strip().partition("://")[0].casefold())
    send = webhook(address.strip(), setting) if webhook else _apprise.make_apprise_sender(address, setting)

    def send_and_hide(message: Message) -> str | None:
        why = send(message)
        text = "" if why is None else escape(hide(" ".join(why.split()), (address,)))
        return None if why is None else text.rstrip(" .")[:_MOST_OF_REASON]

    return send_and_hide
