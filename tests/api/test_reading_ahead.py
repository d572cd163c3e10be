"""What is read in the background is what is read at once: the same logs, or the same refusal."""

from pathlib import Path

import pytest

from plimsoll.api.inputs import Inputs, read
from plimsoll.api.reading_ahead import read_ahead
from plimsoll.model.errors import Unusable

RUNS = Path(__file__).parents[2] / "examples" / "openldap"


def test_each_is_read_or_refused_as_by_itself(tmp_path):
    every = [Inputs((str(place),)) for place in (RUNS / "healthy", tmp_path / "none.csv", RUNS / "trouble")]
    every.append(Inputs(("run:x",), store=str(tmp_path / "none")))
    well, missing, ill, stored = read_ahead(every)
    assert well
    assert missing
    assert ill
    assert stored is None, "a server may have to be waited for"
    assert [log.sha256 for log in ill().logs] == [log.sha256 for log in read(every[2]).logs]
    assert well().logs[0].series == read(every[0]).logs[0].series
    with pytest.raises(Unusable) as refused:
        read(every[1])
    with pytest.raises(Unusable) as again:
        missing()
    assert str(again.value) == str(refused.value)
