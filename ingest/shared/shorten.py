"""Text of a log as it is quoted in a remark or refusal."""


def short(text: str | None, most: int = 40) -> str:
    """The text, or its beginning where it is longer than people want to read."""
    text = text or ""
    return text if len(text) <= most else text[: most - 3] + "..."
