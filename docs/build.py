"""Writes the generated pages of this folder. `python docs/build.py`; a test compares what it would write."""

from pathlib import Path
from typing import Any

from review.document import ReviewDocument

HERE = Path(__file__).parent
_INTRO = """\
# plimsoll.review/1

What `plimsoll review --json FILE` writes. Times are ISO 8601 in UTC; durations are in seconds and say so in their
name; values are in the unit named beside them. Fields are added within a version, never changed or removed.

<!-- Generated from review/document.py by docs/build.py. -->
"""


def review_json() -> str:
    """The page on the review's JSON."""
    parts: dict[str, Any] = ReviewDocument.model_json_schema(by_alias=True)
    sections = [_section("The document", parts)]
    sections += [_section(name.removesuffix("Part"), part) for name, part in parts["$defs"].items()]
    return "\n".join([_INTRO, *sections])


PAGES = {"review-json.md": review_json}


def _section(title: str, part: dict[str, Any]) -> str:
    rows = [
        f"| `{name}` | {_type(field)} | {field.get('description', '')} |" for name, field in part["properties"].items()
    ]
    about = part.get("description", "")
    return "\n".join([f"## {title}", "", about, "", "| field | type | |", "|---|---|---|", *rows, ""])


def _type(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_type(option) for option in field["anyOf"])
    if "$ref" in field:
        return field["$ref"].rpartition("/")[2].removesuffix("Part")
    if "enum" in field or "const" in field:
        return ", ".join(f'"{value}"' for value in field.get("enum", [field.get("const")]))
    if field["type"] == "array":
        return f"list of {_type(field['items'])}"
    if field["type"] == "object":
        return f"{_type(field['additionalProperties'])} by name"
    return field["type"]


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
