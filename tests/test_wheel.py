"""The wheel holds everything Plimsoll needs, adds one name to an environment, and folders of the same names beside the logs are not used."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the wheel and the source archive of the checkout."""
    folder = tmp_path_factory.mktemp("built")
    build(ROOT, folder, "wheel", "sdist")
    return folder


def build(source, folder, *kinds):
    """Build as pip, pipx and uv do."""
    hatchling = (sys.executable, "-c", "from hatchling.cli import hatchling; hatchling()")
    run(*hatchling, "build", "-d", str(folder), *(part for kind in kinds for part in ("-t", kind)), cwd=source)


@pytest.fixture(scope="module")
def wheel(built):
    (result,) = built.glob("*.whl")
    return result


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel in a folder of its own; the environment makes Python look there before it finds the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-compile", "--target", str(folder), str(wheel))
    return folder


@pytest.fixture
def hostile(tmp_path):
    """A folder to work in that has a package and data of our names, none of which may be used."""
    (tmp_path / "plimsoll").mkdir()
    (tmp_path / "plimsoll" / "__init__.py").write_text("raise RuntimeError('not Plimsoll: ' + __file__)\n")
    for name in ("rules/packs", "rules/signals", "dashboards", "telegraf"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "rules" / "packs" / "windows.yaml").write_text("this: is no pack\n")
    return tmp_path


def test_the_wheel_adds_one_name_to_an_environment(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"plimsoll", "plimsoll-0.1.0.dist-info"}


def test_the_wheel_holds_every_file_of_the_package_and_of_what_people_edit(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    data = {"plimsoll": "plimsoll", **{name: f"plimsoll/data/{name}" for name in ("rules", "dashboards", "telegraf")}}
    files = {
        f"{packed}/{file.relative_to(ROOT / folder).as_posix()}"
        for folder, packed in data.items()
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert files <= names
    assert {"plimsoll/data/rules/signals/memory.yaml", "plimsoll/model/perfmon.yaml"} <= names
    assert {".j2", ".css", ".js"} <= {Path(name).suffix for name in names if name.startswith("plimsoll/report/")}


def test_the_source_archive_builds_the_same_wheel(built, wheel, tmp_path):
    (archive,) = built.glob("plimsoll-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    build(source, tmp_path, "wheel")
    (result,) = tmp_path.glob("*.whl")
    assert set(zipfile.ZipFile(result).namelist()) == set(zipfile.ZipFile(wheel).namelist())


def test_the_wheel_holds_what_telegraf_collects(installed):
    """They are the files that live hosts get."""
    code = "from plimsoll.model.shipped_tables import find_shipped_files; print(find_shipped_files('telegraf'))"
    folder = run(sys.executable, "-P", "-c", code, env={**os.environ, "PYTHONPATH": str(installed)}).strip()
    assert Path(folder).is_relative_to(installed)
    kept = {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}
    assert kept == {path.name: path.read_bytes() for path in (ROOT / "telegraf").iterdir() if path.is_file()}


def test_a_package_in_the_working_folder_is_not_imported(installed, hostile):
    env = {**os.environ, "PYTHONPATH": str(installed)}
    code = "import plimsoll; print(plimsoll.__file__)"
    assert Path(run(sys.executable, "-P", "-c", code, cwd=hostile, env=env).strip()).is_relative_to(installed)
    call = "from plimsoll.cli.cli import main; main()"
    assert "review" in run(sys.executable, "-P", "-c", call, "--help", cwd=hostile, env=env)


def test_the_installed_program_works_in_such_a_folder(installed, hostile):
    """`demo` needs every room and every data file."""
    program = shutil.which("plimsoll", path=str(installed / "bin"))
    assert program
    env = {**os.environ, "PYTHONPATH": str(installed)}
    run(program, "demo", "--out", "made", cwd=hostile, env=env)
    assert (hostile / "made").is_dir()
    assert "windows-cpu-busy" in run(program, "rules", "list", cwd=hostile, env=env)
