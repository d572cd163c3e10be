"""Who is told: contact points for e-mail and a webhook, and the policies that choose between them.

Everything is written out. An environment variable that is empty would stop Grafana from starting, so where nobody is
named the addresses are such as reach nobody.
"""

from grafana.alert_file import AlertingFile, ContactPoint, Policy, Receiver, Route, expanded
from grafana.links import ORG_ID

EMAIL = "plimsoll-email"
WEBHOOK = "plimsoll-webhook"
NO_ADDRESS = "nobody@plimsoll.invalid"
NO_URL = "http://plimsoll.invalid/"

# How often what still fires is told again.
_REPEAT = {"critical": "1h", "warning": "4h", "info": "1d"}


def file(emails: tuple[str, ...] = (), webhook: str | None = None) -> AlertingFile:
    """Both contact points, and policies that tell those that are named; the e-mail address where none is."""
    email = {"addresses": expanded(";".join(emails) or NO_ADDRESS)}
    hook = {"url": expanded(webhook or NO_URL), "httpMethod": "POST"}
    told = [EMAIL] if emails or not webhook else []
    told += [WEBHOOK] if webhook else []
    return AlertingFile(
        apiVersion=1,
        contactPoints=[
            ContactPoint(orgId=ORG_ID, name=EMAIL, receivers=[_receiver(EMAIL, "email", email)]),
            ContactPoint(orgId=ORG_ID, name=WEBHOOK, receivers=[_receiver(WEBHOOK, "webhook", hook)]),
        ],
        policies=[
            Policy(
                orgId=ORG_ID,
                receiver=told[0],
                group_by=["grafana_folder", "alertname", "host"],
                group_wait="30s",
                group_interval="5m",
                repeat_interval="4h",
                routes=[
                    _route(severity, receiver, go_on=at < len(told) - 1)
                    for severity in _REPEAT
                    for at, receiver in enumerate(told)
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
