"""The base of JSON documents whose fields are read from the results they are about.

A field takes the attribute of its name from a result; `attribute("signal.title")` takes another one, by its path. So a
model is the schema and the reader in one, and `Model.model_validate(result)` is the document.
"""

from typing import Annotated, Any

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field

from plimsoll.model.times import SECOND, iso


class JsonPart(BaseModel):
    """A part of a JSON document, filled from the attributes of a result."""

    model_config = ConfigDict(frozen=True, from_attributes=True, defer_build=True)


def attribute(path: str, description: str | None = None) -> Any:
    """Return a field that is read from the attribute at `path`, such as `signal.title`."""
    return Field(validation_alias=AliasPath(*path.split(".")), description=description)


def _iso(instant: Any) -> Any:
    return None if instant is None else iso(int(instant))


def _seconds(duration: Any) -> Any:
    return None if duration is None else duration / SECOND


Instant = Annotated[str, BeforeValidator(_iso)]
"""A time in UTC nanoseconds, written as ISO 8601."""
OptionalInstant = Annotated[str | None, BeforeValidator(_iso)]
Seconds = Annotated[float, BeforeValidator(_seconds)]
"""A duration in nanoseconds, written in seconds."""
OptionalSeconds = Annotated[float | None, BeforeValidator(_seconds)]
