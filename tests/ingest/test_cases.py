"""Every quirk of a text log in a folder of its own: input, and what a reader must make of it.

`input.*` is read; `expected.json` holds the log and its remarks, or the refusal, word for word,
as the command line puts it.
`options` in it are given to the reader, `about` says what is hard and where the case comes from.
"""

import json
from pathlib import Path

import pytest

from plimsoll.ingest.formats.registry import FORMATS
from plimsoll.ingest.read import read_log
from plimsoll.ingest.reading import ReadOptions
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import replace_marks_by_options
from plimsoll.model.times import Zone, format_iso
from tests.cells import cells

FOLDER = Path(__file__).parent / "cases"
CASES = sorted(path for path in FOLDER.glob("*/*") if path.is_dir())
KINDS = sorted({case.parent for case in CASES})


def reported(path, options):
    """What reading a file comes to, as it stands in expected.json."""
    zone = Zone.parse(options["zone"]) if "zone" in options else None
    try:
        log = read_log(path, ReadOptions(zone, options.get("format"), options.get("encoding")))
    except Unusable as error:
        result = replace_marks_by_options(str(error)).replace(str(path), path.name)
        return {"refused": result.replace(", ".join(reader.NAME for reader in FORMATS), "<formats>")}
    return {
        "format": log.format,
        "zone": log.zone.label(int(log.times[0]) if len(log.times) else 0),
        "interval_s": log.interval and log.interval / 1e9,
        "times": [format_iso(int(time)) for time in log.times],
        "series": [
            {
                "host": series.host,
                "path": series.path,
                "name": f"{series.measurement} {series.field} {dict(series.tags)}",
                "values": cells(log.columns[at]),
            }
            for at, series in enumerate(log.series)
        ],
        "remarks": [
            {
                "kind": r.kind.value,
                "line": r.line,
                "counter": r.counter,
                "count": r.count,
                "text": replace_marks_by_options(r.text),
            }
            for r in log.remarks
        ],
    }


def test_there_are_cases():
    assert len(CASES) >= 15


@pytest.mark.parametrize("kind", KINDS, ids=lambda path: path.name)
def test_cases(kind):
    result, expected = {}, {}
    for folder in (case for case in CASES if case.parent == kind):
        assert (folder / "expected.json").is_file(), f"{folder} has no expected.json"
        expected[folder.name] = loads = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
        assert loads.pop("about", None), f"{folder}/expected.json does not say what the case is about"
        files = [*folder.glob("input.*")]
        assert len(files) == 1, f"{folder} needs one file input.*, and has {len(files)}"
        (file,) = files
        try:
            result[folder.name] = reported(file, loads.pop("options", {}))
        except Exception as error:
            error.add_note(f"in {folder}")
            raise
    assert result == expected
