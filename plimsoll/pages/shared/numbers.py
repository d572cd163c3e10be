"""Numbers in addresses: of so many digits that databases hold them. Others lead to no page."""

from starlette.convertors import Convertor, register_url_convertor

MOST_DIGITS = 18


class _Number(Convertor[int]):
    regex = f"[0-9]{{1,{MOST_DIGITS}}}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("number", _Number())


def number(text: str) -> int | None:
    """The number that a text is; None if it is none, or too long."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None
