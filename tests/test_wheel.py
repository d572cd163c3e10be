"""The wheel holds everything Plimsoll needs, and a folder of the same name beside the logs does not get in its way."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT))
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel in a folder of its own; the environment makes Python look there before it finds the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder), str(wheel))
    return folder


@pytest.fixture
def hostile(tmp_path):
    """A folder to work in that has packages of our names, none of which may be imported."""
    for name in PACKAGES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('not Plimsoll: ' + __file__)\n")
    return tmp_path


def test_every_package_is_listed_everywhere():
    folders = {found.parent.name for found in ROOT.glob("*/__init__.py")}
    linter = PYPROJECT["tool"]["importlinter"]
    (layers,) = [contract["layers"] for contract in linter["contracts"] if contract["type"] == "layers"]
    assert set(PACKAGES) == folders
    assert set(linter["root_packages"]) == folders
    assert {name for layer in layers for name in layer.replace("|", " ").split()} == folders
    assert folders <= set(PYPROJECT["tool"]["basedpyright"]["include"])
    assert set(PYPROJECT["tool"]["ruff"]["lint"]["isort"]["known-first-party"]) == folders


def test_the_wheel_holds_our_packages_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {*PACKAGES, "plimsoll-0.1.0.dist-info"}


def test_the_wheel_holds_every_file_of_them(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    files = {
        file.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for file in (ROOT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert files <= names
    assert {"rules/signals/memory.yaml", "model/perfmon.yaml"} <= names
    assert any(name.startswith("rules/packs/") and name.endswith(".yaml") for name in names)
    assert {".j2", ".css", ".js"} <= {Path(name).suffix for name in names if name.startswith("report/")}


def test_the_wheel_holds_what_telegraf_collects(installed):
    """`plimsoll stack` runs Telegraf with the very files that live hosts get."""
    code = "from native.folders import configurations; print(configurations())"
    folder = run(sys.executable, "-P", "-c", code, env={**os.environ, "PYTHONPATH": str(installed)}).strip()
    assert Path(folder).is_relative_to(installed)
    kept = {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}
    assert kept == {path.name: path.read_bytes() for path in (ROOT / "telegraf").iterdir() if path.is_file()}


def test_packages_in_the_working_folder_are_not_imported(installed, hostile):
    env = {**os.environ, "PYTHONPATH": str(installed)}
    code = f"import {', '.join(PACKAGES)}; print(*[m.__file__ for m in ({', '.join(PACKAGES)})], sep='\\n')"
    for line in run(sys.executable, "-P", "-c", code, cwd=hostile, env=env).splitlines():
        assert Path(line).is_relative_to(installed)
    call = "from plimsoll.cli import main; main()"
    assert "review" in run(sys.executable, "-P", "-c", call, "--help", cwd=hostile, env=env)


def test_the_installed_program_works_in_such_a_folder(installed, hostile):
    """`demo` needs every room and every data file."""
    program = shutil.which("plimsoll", path=str(installed / "bin"))
    assert program
    run(program, "demo", "--out", "made", cwd=hostile, env={**os.environ, "PYTHONPATH": str(installed)})
    assert (hostile / "made").is_dir()
