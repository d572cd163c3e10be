"""Damages packs, files of names and plimsoll.toml. The same random numbers give the same damage."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = {
    "pack": sorted((ROOT / "rules" / "packs").glob("*.yaml")),
    "names": sorted((ROOT / "plimsoll" / "model" / "counter_names" / "languages").glob("*.yaml")),
    "settings": [ROOT / "docs" / "settings.md", *sorted((ROOT / "examples").glob("*/*/plimsoll.toml"))],
}
_PIECES = [
    *(b"[", b"]", b"{", b"}", b":", b"- ", b"? ", b"&a ", b"*a", b"<<: ", b"!!int ", b"!!binary ", b"!!set ", b"|\n"),
    *(b">\n", b"'", b'"', b"\\", b"\n", b"\t", b"\r", b"\0", b"\x1b", b"\xff", b"\xe2\x80\xae", b"9" * 400, b"1e999"),
    *(b".inf", b".nan", b"-1", b"0x" + b"f" * 250, b"1:1", b"2008-01-15", b"null", b"[[", b"]]", b"'''", b'"""', b"="),
    *(b"#", b",", b"9999-12-31T23:59:59Z", b"0001-01-01T00:00:00+23:59", b"--- ", b"%YAML 9\n", b"~"),
    b"\xf0\x9f\x92\xa9",
    *(b"%", b"0", b"1" * 290, b"9" * 15, b" ", b"1h", b"< ", b">= ", b"x", b"e" * 300, b'"\\e[31m"', b'"\\u202e"'),
]


def damaged(source, random_):
    """Return a file with one to eight pieces deleted, doubled, moved, overwritten or inserted."""
    data = source.read_bytes()
    if source.suffix == ".md":
        data = data.split(b"```toml\n")[1].split(b"```")[0]
    for _ in range(random_.choice((1, 1, 1, 2, 3, 8))):
        at, end = sorted(random_.randint(0, len(data)) for _ in range(2))
        end = min(end, at + random_.choice((1, 4, 40, 400)))
        piece = random_.choice(_PIECES)
        piece = random_.choice((b"", data[at:end] * 2, piece, piece, piece * random_.choice((60, 3000, 100_000))))
        to = random_.choice((at, random_.randint(0, len(data))))
        rest = data[:at] + data[end:] if random_.random() < 0.7 else data
        data = rest[:to] + piece + rest[to:]
    return data
