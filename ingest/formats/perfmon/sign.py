"""The sign of a PDH log, with which the first cell of its header begins."""

import re

SIGN = rb"\(PDH-[CT]SV 4\.0\)"
_FIRST = re.compile(rb'"*' + SIGN)


def own_separator(header: bytes) -> bytes | None:
    """What Windows puts between the cells of a log whose header begins so; None if that is no header of a PDH log."""
    if not _FIRST.match(header):
        return None
    return b"," if header.lstrip(b'"').startswith(b"(PDH-C") else b"\t"
