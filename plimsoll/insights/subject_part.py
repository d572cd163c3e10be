"""The fields of the JSON that name a signal of a host or instance."""

from plimsoll.model.json_part import JsonPart, attribute


class SubjectPart(JsonPart):
    """A signal of one subject."""

    signal: str = attribute("name")
    title: str = attribute("signal.title")
    host: str = attribute("subject.host")
    instance: str | None = attribute("subject.instance")
    unit: str = attribute("signal.unit")
