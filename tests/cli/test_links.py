"""Links and files that are not regular: an unreadable file is named, and never skipped silently."""

import shutil
import tarfile

import pytest


@pytest.fixture
def folder(request, tmp_path):
    """A folder with a healthy log."""
    result = tmp_path / "logs"
    shutil.copytree(request.config.rootpath / "examples" / "windows-today" / "healthy", result)
    return result


def test_a_link_that_leads_nowhere_is_not_healthy(plimsoll, folder):
    assert plimsoll("review", folder).out.startswith("Healthy")
    (folder / "loop.csv").symlink_to("loop.csv")
    assert plimsoll("review", folder).out.startswith("Not known")


def test_a_link_in_an_archive_is_read_as_its_file_or_said_to_be_missing(plimsoll, folder, tmp_path):
    (log,) = folder.glob("*.csv")
    for target, verdict in ((log.name, "Healthy"), ("../elsewhere/b.csv", "Not known")):
        link = folder / "b.csv"
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        with tarfile.open(tmp_path / "logs.tar", "w") as archive:
            archive.add(folder, "logs")
        assert plimsoll("review", tmp_path / "logs.tar").out.startswith(verdict), target


def test_settings_that_are_no_file_are_refused(plimsoll, folder):
    settings = folder / "plimsoll.toml"
    settings.unlink(missing_ok=True)
    settings.symlink_to("../gone/plimsoll.toml")
    assert plimsoll("review", folder).status == 2
    settings.unlink()
    settings.mkdir()
    refused = plimsoll("review", folder)
    assert (refused.status, "not a regular file" in refused.err) == (2, True)


def test_a_phase_of_another_age_is_refused(plimsoll, folder):
    (folder / "plimsoll.toml").write_text(
        '[[run.phases]]\nname = "steady"\nfrom = 0001-01-01T00:00:00+14:00\nto = 9999-12-31T23:59:59-14:00\n'
    )
    refused = plimsoll("review", folder)
    assert (refused.status, "is in the year 9999" in refused.err) == (2, True)
