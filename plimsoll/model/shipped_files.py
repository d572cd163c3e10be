"""Where the files lie that people read and edit: rules, dashboards, and Telegraf's configurations."""

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_CHECKOUT = _PACKAGE.parent


def shipped_files(folder: str) -> Path:
    """`rules`, `dashboards` or `telegraf`: at the top of a checkout, so that an edit takes effect at once.

    A wheel has them in `plimsoll/data`; a folder of that name beside the installed package is somebody else's.
    """
    packed = _PACKAGE / "data" / folder
    return packed if packed.is_dir() else _CHECKOUT / folder
