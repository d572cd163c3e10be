"""The one file that install/zip_application.py packs."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import lacking

PROGRAM = Path(__file__).parents[1] / "install" / "zip_application.py"


@pytest.fixture
def packages(tmp_path):
    """A folder of packages with a small plimsoll, and its program."""
    site = tmp_path / "packages"
    (site / "plimsoll").mkdir(parents=True)
    (site / "plimsoll" / "__main__.py").write_text("def main():\n    print('it runs')\n\n\nmain()\n")
    (site / "plimsoll" / "__init__.py").touch()
    (site / "bin").mkdir()
    script = site / "bin" / "plimsoll"
    script.write_text(f"#!{sys.executable}\nimport plimsoll.__main__\n")
    script.chmod(0o755)
    return site


def pack(*arguments):
    return subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, text=True, check=False)


def test_a_zip_application_runs_where_only_python_is(packages, tmp_path):
    result = tmp_path / "plimsoll.pyz"
    done = pack(result, "--packages", packages)
    if "No matching distribution" in done.stderr or "Connection" in done.stderr:
        lacking("shiv", "pip cannot reach the package registry")
    assert done.returncode == 0, done.stderr
    environment = {"PATH": os.environ["PATH"], "SHIV_ROOT": str(tmp_path / "unpacked")}
    ran = subprocess.run(
        [sys.executable, "-I", result], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
    )
    assert ran.stdout == "it runs\n", ran.stderr


def test_a_folder_for_windows_has_its_python_and_finds_the_packages(packages, tmp_path):
    python = tmp_path / "python-3.13.9-embed-amd64.zip"
    with zipfile.ZipFile(python, "w") as packed:
        packed.writestr("python.exe", "")
        packed.writestr("python313._pth", "python313.zip\n.\n")
    result = tmp_path / "plimsoll.zip"
    done = pack("--windows", result, "--with-python", python, "--packages", packages)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(result) as packed:
        names = set(packed.namelist())
        assert {"plimsoll/python/python.exe", "plimsoll/site/plimsoll/__main__.py", "plimsoll/plimsoll.cmd"} <= names
        assert packed.read("plimsoll/python/python313._pth").decode() == "python313.zip\n.\n..\\site\n"
        assert packed.read("plimsoll/plimsoll.cmd").endswith(b"-m plimsoll %*\r\n")


def test_another_zip_than_an_embeddable_python_is_refused(packages, tmp_path):
    python = tmp_path / "some.zip"
    with zipfile.ZipFile(python, "w") as packed:
        packed.writestr("readme.txt", "")
    done = pack("--windows", tmp_path / "out.zip", "--with-python", python, "--packages", packages)
    assert done.returncode == 1
    assert "is not an embeddable Python" in done.stderr
    assert pack("--windows", tmp_path / "out.zip").returncode == 2
