"""Numbers in addresses: of as many digits as databases hold. Others lead to no page."""

from starlette.convertors import Convertor, register_url_convertor

MOST_DIGITS = 18
ID = "{id:number}"  # in the path of a route


class _Number(Convertor[int]):
    regex = f"[0-9]{{1,{MOST_DIGITS}}}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("number", _Number())


def number(text: str) -> int | None:
    """Return the number that a text is; None if it is none, or too long."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None
