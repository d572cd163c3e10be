"""Contact points for e-mail and a webhook, and the policies that choose between them.

Addresses are written into the file: Grafana does not start if one comes from an empty environment variable. If none
is given, a placeholder is written that reaches nobody.
"""

from plimsoll.export.grafana.alerts.file import AlertingFile, ContactPoint, Policy, Receiver, Route, expanded
from plimsoll.export.grafana.links import ORG_ID

EMAIL = "plimsoll-email"
WEBHOOK = "plimsoll-webhook"
NO_ADDRESS = "nobody@plimsoll.invalid"
NO_URL = "http://plimsoll.invalid/"

# How often the notification of a firing alert is repeated.
_REPEAT = {"critical": "1h", "warning": "4h", "info": "1d"}


def file(emails: tuple[str, ...] = (), webhook: str | None = None) -> AlertingFile:
    """Return both contact points, and policies that notify those given, or the e-mail placeholder if none is."""
    email = {"addresses": expanded(";".join(emails) or NO_ADDRESS)}
    hook = {"url": expanded(webhook or NO_URL), "httpMethod": "POST"}
    notified = [EMAIL] if emails or not webhook else []
    notified += [WEBHOOK] if webhook else []
    return AlertingFile(
        apiVersion=1,
        contactPoints=[
            ContactPoint(orgId=ORG_ID, name=EMAIL, receivers=[_receiver(EMAIL, "email", email)]),
            ContactPoint(orgId=ORG_ID, name=WEBHOOK, receivers=[_receiver(WEBHOOK, "webhook", hook)]),
        ],
        policies=[
            Policy(
                orgId=ORG_ID,
                receiver=notified[0],
                group_by=["grafana_folder", "alertname", "host"],
                group_wait="30s",
                group_interval="5m",
                repeat_interval="4h",
                routes=[
                    _route(severity, receiver, go_on=at < len(notified) - 1)
                    for severity in _REPEAT
                    for at, receiver in enumerate(notified)
                ],
            )
        ],
    )


def _receiver(uid: str, kind: str, settings: dict[str, str]) -> Receiver:
    return Receiver(uid=uid, type=kind, settings=dict(settings), disableResolveMessage=False)


def _route(severity: str, receiver: str, *, go_on: bool) -> Route:
    return Route(
        receiver=receiver,
        object_matchers=[("severity", "=", severity)],
        repeat_interval=_REPEAT[severity],
        **({"continue": True} if go_on else {}),  # pyright: ignore[reportArgumentType]
    )
