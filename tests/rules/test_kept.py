"""Cached results are used only if they are right, complete and the user's own."""

import sys

import pytest

from plimsoll.model.kept import cache_result


class Counting:
    """Makes a value, and counts how often it was asked to."""

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return {"made": self.calls}


def test_it_is_made_once_for_each_key(tmp_path):
    make = Counting()
    assert [cache_result(tmp_path / "c", "x", key, make) for key in (b"1", b"1", b"2", b"1")] == [
        {"made": 1},
        {"made": 1},
        {"made": 2},
        {"made": 1},
    ]


def damaged(file):
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


@pytest.mark.skipif(sys.platform == "win32", reason="modes and owners of files are those of POSIX")
def test_what_is_damaged_deleted_or_open_to_others_is_made_anew(tmp_path):
    changes = {
        "deleted": lambda file: file.unlink(),
        "damaged": damaged,
        "empty": lambda file: file.write_bytes(b""),
        "a file others can write": lambda file: file.chmod(0o666),
        "a folder others can write": lambda file: file.parent.chmod(0o777),
    }
    for name, change in changes.items():
        make, folder = Counting(), tmp_path / name
        cache_result(folder, "x", b"1", make)
        (file,) = folder.iterdir()
        change(file)
        assert cache_result(folder, "x", b"1", make) == {"made": 2}, name


@pytest.mark.skipif(sys.platform == "win32", reason="makes a symbolic link")
def test_a_link_to_a_file_is_not_followed(tmp_path):
    make = Counting()
    cache_result(tmp_path / "mine", "x", b"1", make)
    (file,) = (tmp_path / "mine").iterdir()
    (tmp_path / "other").mkdir(mode=0o700)
    (tmp_path / "other" / file.name).symlink_to(file)
    assert cache_result(tmp_path / "other", "x", b"1", make) == {"made": 2}


def test_a_folder_that_cannot_be_made_costs_time_only(tmp_path):
    (tmp_path / "file").write_text("")
    make = Counting()
    assert cache_result(tmp_path / "file" / "c", "x", b"1", make) == {"made": 1}
    assert cache_result(tmp_path / "file" / "c", "x", b"1", make) == {"made": 2}
