"""Prints how the cases are judged: `python -m tests.verdicts [WORDS]`; with --write, writes docs/truth.md."""

import sys

from .case import families
from .table import PAGE, page, result_of


def main():
    """Judge the cases whose family and name hold all words."""
    words = [word.lower() for word in sys.argv[1:] if word != "--write"]
    by_family = {}
    for family, cases in families().items():
        chosen = [
            case for case in cases if all(word in f"{case.family}/{family}/{case.name}".lower() for word in words)
        ]
        if chosen:
            by_family[family] = [result_of(case) for case in chosen]
    written = page(by_family)
    print(written[written.index("| family") : written.index("\n## ")])
    for result in (result for family_results in by_family.values() for result in family_results):
        if result.kind != "right" or result.contradictions or words:
            print(f"{result.case.family}: {result.case.name}: {result.kind} (expected {result.case.expect})")
            print("    " + "\n    ".join([*result.text.split("\n")[: None if words else 2], *map(str, result.lacks)]))
            print("".join(f"    CONTRADICTION {text}\n" for text in result.contradictions), end="")
    if "--write" in sys.argv:
        PAGE.write_text(written, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
