"""Packs Plimsoll with all packages that it needs into one file, for computers that reach no package registry.

    .venv/bin/python install/zip_application.py plimsoll.pyz
    .venv/bin/python install/zip_application.py --windows plimsoll.zip --with-python python-3.13.9-embed-amd64.zip

The first is a zip application (made by shiv) for this system and this version of Python, which the computer must have.
The second is a folder for Windows with the embeddable Python that is given, which python.org has: nothing has to be
installed, and plimsoll.cmd in it is the program.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
_WINDOWS = ("--platform", "win_amd64", "--only-binary", ":all:")
# -P: what is in the working folder is not imported.
_PROGRAM = '@"%~dp0python\\python.exe" -P -m plimsoll %*\r\n'


def main(arguments: Sequence[str]) -> None:
    """Pack as the arguments say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, metavar="FILE", help="the file to write")
    parser.add_argument("--windows", action="store_true", help="a folder for Windows, with its Python")
    parser.add_argument("--with-python", type=Path, metavar="ZIP", help="the embeddable Python for Windows")
    parser.add_argument("--packages", type=Path, metavar="FOLDER", help="take the packages from here, and install none")
    asked = parser.parse_args(arguments)
    if asked.windows != bool(asked.with_python):
        parser.error("--windows and --with-python go together: name the embeddable Python of python.org")
    with tempfile.TemporaryDirectory(prefix="plimsoll-zip-") as name:
        folder = Path(name)
        if asked.windows:
            _folder_for_windows(asked.with_python, asked.packages, folder)
            _zip(folder / "plimsoll", asked.out)
        else:
            site = asked.packages or _installed(folder / "site", folder, ())
            _application(site, folder, asked.out)
    sys.stdout.write(f"{asked.out}: {asked.out.stat().st_size / 1e6:.0f} MB\n")


def _installed(site: Path, folder: Path, platform: Sequence[str]) -> Path:
    """Plimsoll and all that it needs, in a folder."""
    wheels = folder / "wheels"
    subprocess.run([*_PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", wheels, _ROOT], check=True)
    pinned = _ROOT / "install" / "requirements.txt"
    subprocess.run([*_PIP, "install", "--target", site, "--require-hashes", *platform, "-r", pinned], check=True)
    own = [*wheels.glob("plimsoll-*.whl")]
    subprocess.run([*_PIP, "install", "--target", site, "--no-deps", *own], check=True)
    return site


def _application(site: Path, folder: Path, out: Path) -> None:
    tools = folder / "tools"
    pinned = _ROOT / "install" / "requirements-zip.txt"
    subprocess.run([*_PIP, "install", "--target", tools, "--no-deps", "--require-hashes", "-r", pinned], check=True)
    shiv = f"import sys; sys.path.insert(0, {str(tools)!r}); from shiv.cli import main; main()"
    options = ["--site-packages", site, "--console-script", "plimsoll", "--python", "/usr/bin/env python3"]
    subprocess.run([sys.executable, "-c", shiv, *options, "--compressed", "--output-file", out], check=True)


def _folder_for_windows(python: Path, packages: Path | None, folder: Path) -> None:
    made = folder / "plimsoll"
    with zipfile.ZipFile(python) as packed:
        packed.extractall(made / "python")
    paths = [*(made / "python").glob("python3*._pth")]
    found = re.fullmatch(r"python3(\d+)", paths[0].stem) if len(paths) == 1 else None
    if found is None:
        sys.exit(f"error: {python}: is not an embeddable Python: it has no python3*._pth")
    # What the embeddable Python may import: its own library, and what is beside it.
    paths[0].write_text(f"{paths[0].read_text(encoding='utf-8').rstrip()}\n..\\site\n", encoding="utf-8")
    if packages:
        shutil.copytree(packages, made / "site")
    else:
        _installed(made / "site", folder, (*_WINDOWS, "--python-version", f"3.{found[1]}"))
    (made / "plimsoll.cmd").write_text(_PROGRAM, encoding="ascii", newline="")


def _zip(folder: Path, out: Path) -> None:
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            if "__pycache__" not in path.parts:
                packed.write(path, path.relative_to(folder.parent))


if __name__ == "__main__":
    main(sys.argv[1:])
