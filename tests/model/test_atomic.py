"""Files are written as a whole or not at all, and what is no file stays what it is."""

import os
import stat
import subprocess
import sys
import threading

import pytest

from plimsoll.model.atomic import write_atomically
from plimsoll.model.errors import Unusable


def test_a_file_is_there_only_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "report.html"
    with write_atomically(path) as partial:
        partial.write_text("half")
        assert not path.exists()
    assert path.read_text() == "half"
    assert os.listdir(path.parent) == ["report.html"]


def test_an_error_on_the_way_leaves_what_was_there(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), write_atomically(path) as partial:
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
    with write_atomically(path) as partial:
        partial.write_text("all of it")
    reader.join(timeout=300)
    assert came == ["all of it"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_link_is_written_through_and_stays_one(tmp_path):
    path, target = tmp_path / "link", tmp_path / "target"
    target.write_text("before")
    path.symlink_to(target)
    with write_atomically(path) as partial:
        partial.write_text("after")
    assert path.is_symlink()
    assert target.read_text() == "after"


on_posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes and needs a privilege for links")


@on_posix
def test_a_link_to_itself_leads_to_no_place(tmp_path):
    path = tmp_path / "link"
    path.symlink_to(path)
    with pytest.raises(Unusable, match="link: cannot be written"), write_atomically(path) as partial:
        partial.write_text("x")


@on_posix
@pytest.mark.parametrize("name", ["/dev/stdout", "link"])
def test_what_a_process_holds_open_is_written_into(tmp_path, name):
    """The open file stays the same file, so that later output is appended to it."""
    (tmp_path / "link").symlink_to("/dev/stdout")
    out = tmp_path / "out.txt"
    code = f"""
from pathlib import Path
from plimsoll.model.atomic import write_atomically
with write_atomically(Path({name!r})) as partial:
    partial.write_text("all of it")
"""
    with out.open("w") as file:
        root = os.pathsep.join(sys.path)
        environment = {**os.environ, "PYTHONPATH": root}
        subprocess.run([sys.executable, "-c", code], stdout=file, cwd=tmp_path, env=environment, check=True)
        assert os.path.samestat(out.stat(), os.fstat(file.fileno()))
    assert out.read_text() == "all of it"


@on_posix
@pytest.mark.parametrize("mode", [0o600, 0o444, 0o660, 0o755])
def test_the_mode_of_a_file_that_is_replaced_is_kept(tmp_path, mode):
    path, link = tmp_path / "report.html", tmp_path / "link"
    path.write_text("before")
    path.chmod(mode)
    link.symlink_to(path)
    for name in (path, link):
        with write_atomically(name) as partial:
            partial.write_text("after")
            assert stat.S_IMODE(partial.stat().st_mode) == mode | 0o200  # nobody else reads it meanwhile
        assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_text() == "after"


@pytest.mark.parametrize("name", ["n.csv/x.csv", "n.csv/a/b/x.csv"])
def test_a_file_is_no_folder(tmp_path, name):
    (tmp_path / "n.csv").write_text("before")
    with pytest.raises(Unusable) as refused, write_atomically(tmp_path / name) as partial:
        partial.write_text("x")
    assert str(refused.value) == f"{tmp_path / name}: cannot be written: {tmp_path / 'n.csv'} is no folder"
    assert (tmp_path / "n.csv").read_text() == "before"


def test_a_folder_is_no_place_to_write_to(tmp_path):
    with pytest.raises(Unusable, match="cannot be written"), write_atomically(tmp_path) as partial:
        partial.write_text("x")
    assert tmp_path.is_dir()
