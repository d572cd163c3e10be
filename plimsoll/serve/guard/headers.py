"""The headers of every answer."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class SecurityHeaders:
    """Adds headers to every answer: nothing is loaded from elsewhere, framed, guessed at, or told to others.

    A header that an answer has already, such as the report's policy for its own script, is left as it is.
    """

    _HEADERS = (
        (
            b"content-security-policy",
            b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
            b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
        (b"x-frame-options", b"DENY"),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"cache-control", b"no-store"),
    )

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = [*message.get("headers", ())]
                own = {name.lower() for name, _ in given}
                message = {**message, "headers": [*given, *(one for one in self._HEADERS if one[0] not in own)]}
            await send(message)

        await self._app(scope, receive, send_with_headers)
