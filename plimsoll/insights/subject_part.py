"""The fields of the JSON that name a signal of a host or instance."""

from plimsoll.model.json_part import JsonPart, read_attribute


class SubjectPart(JsonPart):
    """A signal of one subject."""

    signal: str = read_attribute("name")
    title: str = read_attribute("signal.title")
    host: str = read_attribute("subject.host")
    instance: str | None = read_attribute("subject.instance")
    unit: str = read_attribute("signal.unit")
