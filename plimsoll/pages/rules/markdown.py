"""Shows the Markdown of rules as HTML."""

import re
from functools import cache

from markdown_it import MarkdownIt
from markupsafe import Markup

from plimsoll.model.errors import printable_lines

_RULE_LINK = re.compile(r"\]\(([a-z0-9-]+)\.md\)")


def html(text: str) -> Markup:
    """Markdown as HTML. HTML in it is shown as it is written, and pictures are not loaded.

    Links to pages of other rules in docs/rules lead to their pages here.
    """
    return Markup(_parser().render(_RULE_LINK.sub(r"](/rules/\1)", printable_lines(text))))


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).disable("image")
