"""The document of a stored run: what is read back is what was kept, also where an earlier version kept it."""

import json
import zlib

import numpy as np

from plimsoll.model.remark import Kind, Remark
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.store.run_document import dump_run, load_run

SERIES = Series("WEB01", "win_system", (("objectname", "System"),), "Threads", r"\System\Threads")
RUN = StoredRun(
    Run("night"),
    (
        Recording(
            "WEB01.csv",
            "PDH-CSV",
            "0" * 64,
            Zone.parse("UTC"),
            np.arange(3, dtype=np.int64) * SECOND,
            (SERIES,),
            (np.empty(0, dtype=np.uint32),),
        ),
    ),
    (
        Remark(Kind.UNREAD, "is empty; there is nothing to read", "WEB02.csv", 1),
        Remark(Kind.SKIPPED, "x", "notes.txt"),
    ),
    "[run]\n",
    whole=True,
)


def test_what_a_run_was_loaded_from_and_what_could_not_be_read_are_kept():
    result = load_run(dump_run(RUN))
    assert (result.whole, result.remarks, result.settings) == (True, RUN.remarks, "[run]\n")
    assert dump_run(result) == dump_run(RUN)


def test_a_run_of_an_earlier_version_was_not_loaded_from_a_folder_as_far_as_is_known():
    document = json.loads(zlib.decompress(dump_run(RUN)))
    del document["whole"]
    assert load_run(zlib.compress(json.dumps(document).encode())).whole is False
