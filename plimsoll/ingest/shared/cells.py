"""The cells of one line of a delimited log."""

import csv

# csv has one limit for the whole process, of 128 KB, which a quote left open goes beyond. It is a C long: of
# Windows that is 32 bits.
csv.field_size_limit(2**31 - 1)
_UNFIT = "\r\n\0"


def split(line: str, separator: str) -> list[str]:
    """The cells of a line; quotes may enclose separators, and one that is not closed encloses the rest.

    Line ends and zero bytes inside a line cannot be part of a name or number: they become U+FFFD.
    """
    for unfit in _UNFIT:
        line = line.replace(unfit, "\ufffd")
    return next(csv.reader([line], delimiter=separator), [])
