"""Secrets are kept in a folder that nobody else can change."""

import os
import re
import sys

import pytest

from plimsoll.model.errors import Unusable
from plimsoll.model.private_folder import check_private

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")

SOMEONE = 65534  # nobody
as_root = pytest.mark.skipif(sys.platform != "win32" and os.geteuid() != 0, reason="only root gives files away")


def assert_refused(folder, reason):
    with pytest.raises(Unusable, match=re.escape(reason)):
        check_private(folder)


@pytest.fixture
def place(tmp_path):
    """A folder that anyone may write in, as /tmp is, with a folder of ours."""
    (tmp_path / "shared" / "ours").mkdir(parents=True)
    (tmp_path / "shared").chmod(0o1777)
    return tmp_path / "shared"


def test_a_folder_that_others_may_write_in(place):
    for mode in (0o777, 0o1777, 0o703):
        (place / "ours").chmod(mode)
        assert_refused(place / "ours", f"others may write in {place / 'ours'}")
    (place / "ours").chmod(0o755)
    check_private(place / "ours")


def test_a_folder_in_one_that_others_may_write_in(place):
    check_private(place / "ours")
    check_private(place / "new")
    place.chmod(0o777)
    for name in ("ours", "new", "new/deeper"):
        assert_refused(place / name, f"others may write in {place}")


def test_a_link_to_a_folder_is_followed(place, tmp_path):
    link = tmp_path / "link"
    link.symlink_to("shared/ours")
    check_private(link)
    (place / "ours").chmod(0o777)
    assert_refused(link, f"others may write in {place / 'ours'}")


@as_root
def test_a_folder_or_link_of_another_user(place, tmp_path):
    theirs = place / "theirs"
    theirs.mkdir()
    os.chown(theirs, SOMEONE, SOMEONE)
    for name in ("theirs", "theirs/new"):
        assert_refused(place / name, f"{theirs} belongs to another user, nobody")
    link = place / "link"
    link.symlink_to(tmp_path)
    os.lchown(link, SOMEONE, SOMEONE)
    assert_refused(link / "new", f"{link} belongs to another user, nobody")


@as_root
def test_the_group_of_the_user_alone_may_write(place):
    ours = place / "ours"
    ours.chmod(0o770)
    check_private(ours)
    os.chown(ours, -1, SOMEONE)
    assert_refused(ours, f"others may write in {ours}")
