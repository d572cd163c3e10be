"""How an operation of the API reads requests: bodies within bounds, and no parameters that it does not have."""

from collections.abc import Callable, Coroutine, Sequence
from http import HTTPStatus
from typing import Any, cast, get_origin

from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from plimsoll.pages.http_api.parameters import ApiFault

LONGEST_BODY = 32 << 10


class Operation(APIRoute):
    """An operation; its docstring's first line is its summary, unless it has one."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.summary = self.summary or self.description.rstrip(".")

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of requests."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            async with request.app.state.bodies.read(request, LONGEST_BODY) as body:
                self._check_query(request)
                self._check_content_type(request)
                message: Message = {"type": "http.request", "body": bytes(body)}

                async def receive() -> Message:
                    return message

                return await handle(Request(request.scope, receive))

        return answer

    def _check_query(self, request: Request) -> None:
        models = [cast("type[BaseModel]", query.field_info.annotation) for query in self.dependant.query_params]
        fields = {field.alias or name: field for model in models for name, field in model.model_fields.items()}
        for name in request.query_params:
            count, where = len(request.query_params.getlist(name)), name[:100]
            if name not in fields:
                hint = f"known parameters: {', '.join(fields)}" if fields else "it takes none"
                raise ApiFault(HTTPStatus.BAD_REQUEST, f"{where}: is no parameter", where, hint)
            if count > 1 and get_origin(fields[name].annotation) is not Sequence:
                raise ApiFault(HTTPStatus.BAD_REQUEST, f"{where}: is given {count} times", where, "give one")

    def _check_content_type(self, request: Request) -> None:
        """Refuse bodies that pages of other sites can send without asking this server."""
        sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if self.body_field and sent != "application/json":
            error, hint = f"{sent or 'no type'}: is no JSON", "application/json"
            raise ApiFault(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, error, "Content-Type", hint)
