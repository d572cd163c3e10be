"""Which folders are taken as data folders."""

import pytest

from plimsoll.api import data_folder
from plimsoll.model.errors import Unusable


@pytest.mark.parametrize("names", [(), ("up.lock",), ("lost+found", "up.lock"), ("alerts.db", "notes.txt")])
def test_a_folder_in_which_a_start_failed_is_taken_again(tmp_path, names):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    for name in names:
        (folder / name).touch(mode=0o600)
    assert data_folder.prepare(folder) == folder


def test_a_folder_of_other_files_is_refused(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    (folder / "notes.txt").touch()
    with pytest.raises(Unusable, match="holds other files"):
        data_folder.prepare(folder)
