"""The application for connections beyond those for agents."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plimsoll.serve.answers import later
from plimsoll.serve.guard.access import WRITING

_COME_BACK_S = 30


def without_agents(app: ASGIApp) -> ASGIApp:
    """The application for a connection beyond those for agents: what they send is refused, with the time to come back.

    The connection is closed after the answer, so that it is free for others.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def closing(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            await send(message)

        if scope["type"] == "http" and scope["path"] in WRITING:
            await later("too many agents are connected", _COME_BACK_S)(scope, receive, closing)
        else:
            await app(scope, receive, closing)

    return answer
