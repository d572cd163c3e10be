"""`plimsoll stack start` keeps its secrets in a folder that nobody else can change."""

import os
import stat
import sys

import pytest

from plimsoll.native import settings
from plimsoll.native.private import check_private
from plimsoll.native.stack import Stack
from tests.conftest import free_port

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are not run in the background on Windows")

SOMEONE = 65534  # nobody
as_root = pytest.mark.skipif(sys.platform != "win32" and os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def refused(plimsoll, influxdb, telegraf):
    """Has `plimsoll stack start` refuse a folder; what it said."""

    def start(folder):
        before = sorted(folder.rglob("*"))
        done = plimsoll("stack", "start", "--folder", folder, "--port", free_port())
        if done.status == 0:
            plimsoll("stack", "stop", "--folder", folder)
        assert (done.status, done.out) == (2, "")
        assert sorted(folder.rglob("*")) == before
        assert "choose another with --folder" in done.err
        return done.err

    return start


@pytest.fixture
def place(tmp_path):
    """A folder that anyone may write in, as /tmp is, with a folder of ours."""
    (tmp_path / "shared" / "ours").mkdir(parents=True)
    (tmp_path / "shared").chmod(0o1777)
    return tmp_path / "shared"


def test_a_folder_that_others_may_write_in(refused, place):
    for mode in (0o777, 0o1777, 0o703):
        (place / "ours").chmod(mode)
        assert f"others may write in {place / 'ours'}" in refused(place / "ours")
    (place / "ours").chmod(0o755)
    check_private(place / "ours")


def test_a_folder_in_one_that_others_may_write_in(refused, place):
    check_private(place / "ours")
    check_private(place / "new")
    place.chmod(0o777)
    for name in ("ours", "new", "new/deeper"):
        assert f"others may write in {place}" in refused(place / name)


def test_a_link_to_a_folder_is_followed(refused, place, tmp_path):
    link = tmp_path / "link"
    link.symlink_to("shared/ours")
    check_private(link)
    (place / "ours").chmod(0o777)
    assert f"others may write in {place / 'ours'}" in refused(link)


@as_root
def test_a_folder_or_link_of_another_user(refused, place, tmp_path):
    theirs = place / "theirs"
    theirs.mkdir()
    os.chown(theirs, SOMEONE, SOMEONE)
    for name in ("theirs", "theirs/new"):
        assert f"{theirs} belongs to another user, nobody" in refused(place / name)
    link = place / "link"
    link.symlink_to(tmp_path)
    os.lchown(link, SOMEONE, SOMEONE)
    assert f"{link} belongs to another user, nobody" in refused(link / "new")


@as_root
def test_the_group_of_the_user_alone_may_write(refused, place):
    ours = place / "ours"
    ours.chmod(0o770)
    check_private(ours)
    os.chown(ours, -1, SOMEONE)
    assert f"others may write in {ours}" in refused(ours)


def test_what_it_makes_is_for_the_user_alone(influxdb, telegraf, tmp_path):
    before = os.umask(0)
    try:
        (tmp_path / "given").mkdir(mode=0o755)
        for name in ("made", "given"):
            stack = Stack(tmp_path / name)
            stack.start(free_port())
            stack.stop()
            stack.start()
            stack.stop()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o700
    for path in (*(tmp_path / "made").rglob("*"), *(tmp_path / "given").rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert (tmp_path / "given" / "engine").is_dir()
    assert settings.read(tmp_path / "given" / "influxdb.env")
