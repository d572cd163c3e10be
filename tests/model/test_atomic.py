"""Files are written as a whole or not at all, and what is no file stays what it is."""

import os
import stat
import threading

import pytest

from model.atomic import written
from model.errors import Unusable


def test_a_file_is_there_only_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "report.html"
    with written(path) as partial:
        partial.write_text("half")
        assert not path.exists()
    assert path.read_text() == "half"
    assert os.listdir(path.parent) == ["report.html"]


def test_an_error_on_the_way_leaves_what_was_there(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), written(path) as partial:
        partial.write_text(f"half{1 / 0}")
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["report.html"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes among its files")
def test_a_pipe_is_written_into_and_stays_one(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    came: list[str] = []
    reader = threading.Thread(target=lambda: came.append(path.read_text()))
    reader.start()
    with written(path) as partial:
        partial.write_text("all of it")
    reader.join(timeout=10)
    assert came == ["all of it"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_link_is_written_through_and_stays_one(tmp_path):
    path, target = tmp_path / "link", tmp_path / "target"
    target.write_text("before")
    path.symlink_to(target)
    with written(path) as partial:
        partial.write_text("after")
    assert path.is_symlink()
    assert target.read_text() == "after"


def test_a_folder_is_no_place_to_write_to(tmp_path):
    with pytest.raises(Unusable, match="cannot be written"), written(tmp_path) as partial:
        partial.write_text("x")
    assert tmp_path.is_dir()
