"""Keeps the secrets of notification addresses out of messages, pages and logs.

Apprise's own privacy form still shows some paths, headers and parameters, which often are tokens. So for these
addresses only the scheme and the server are shown.
"""

import logging
import re
from collections.abc import Iterable
from urllib.parse import unquote

_HIDDEN = "****"
# In these schemes the host is a server; in others (slack://TOKEN/...) it is a part of the secret.
_WITH_SERVER = re.compile(r"alertmanagers?|https?|jsons?|forms?|xmls?|mailtos?|ntfys")
_ADDRESS = re.compile(
    r"(?P<scheme>[A-Za-z][\w+.-]*)://(?:(?P<user>[^/?#]*)@)?(?P<server>[^/?#]*)(?P<rest>.*)", re.DOTALL
)
_SERVER = re.compile(r"[\w.-]+(:\d+)?|\[[\da-fA-F:.]+\](:\d+)?")
_SHORTEST = 4
_COMMON = {"http", "https", "json", "post", "get", "services", "api", "hooks", "webhook", "text", "yes", "localhost"}


def redact_address(address: str) -> str:
    """Return an address without its secrets: `slack://****`, `jsons://alerts.example.com/****`."""
    match = _ADDRESS.fullmatch(address.strip())
    if match is None:
        return _HIDDEN
    scheme = match["scheme"].casefold()
    unsure = not _SERVER.fullmatch(match["server"]) or "@" in match["rest"]  # a password may have a slash in it
    if not _WITH_SERVER.fullmatch(scheme) or unsure:
        return f"{scheme}://{_HIDDEN}"
    matches = match["user"] is not None or match["rest"] not in ("", "/")
    return f"{scheme}://{match['server']}{f'/{_HIDDEN}' if matches else ''}"


def hide(text: str, addresses: Iterable[str]) -> str:
    """Return a text in which these addresses, and the secret parts of the addresses, are replaced."""
    for secret in sorted({part for address in addresses for part in _find_secrets(address)}, key=len, reverse=True):
        text = re.sub(re.escape(secret), _HIDDEN, text, flags=re.IGNORECASE)
    return text


# The loggers of libraries that get the addresses; a logger's filter applies only to its own records.
_LOGGERS = ("apprise", "urllib3.connectionpool", "urllib3.util.retry", "requests", "requests_oauthlib", "oauthlib")
_HIDDEN_IN_LOGS: list[str] = []


def _hide_in_record(record: logging.LogRecord) -> bool:
    """Replace the secrets of addresses in a log record before any handler sees it; return True to keep it."""
    record.msg, record.args = hide(record.getMessage(), _HIDDEN_IN_LOGS), ()
    record.exc_info, record.exc_text = None, None  # a traceback may show the address
    return True


def hide_in_logs(addresses: Iterable[str]) -> None:
    """Hide the secrets of these addresses, instead of those of earlier calls, in the logs of libraries."""
    _HIDDEN_IN_LOGS[:] = addresses
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_hide_in_record)  # once, also if it is called again
    # plimsoll/notify/targets.py logs what apprise says, with the name of the target.
    logging.getLogger("apprise").propagate = False


def _find_secrets(address: str) -> set[str]:
    match = _ADDRESS.fullmatch(address.strip())
    if match is None:
        return {address}
    parts = re.split(r"[/?&=#:;,+@]", match["rest"]) + re.split(r"[:]", match["user"] or "")
    if match["server"] not in redact_address(address):
        parts.append(match["server"])
    forms = {form for part in parts for form in (part, unquote(part))}
    return {address, *(part for part in forms if len(part) >= _SHORTEST and part.casefold() not in _COMMON)}
