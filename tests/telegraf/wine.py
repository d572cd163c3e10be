"""Programs for Windows under Wine. Telegraf loads configurations there and says what is wrong with them.

It does not gather: Wine's pdh.dll lacks PdhGetFormattedCounterArrayW.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from plimsoll.model.errors import Unusable
from plimsoll.model.kept import cache_folder
from tests.servers.programs import TELEGRAF_WINDOWS

_WINE_PLACES = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/lib/wine"])
_COMPILER = "x86_64-w64-mingw32-gcc"

# The one function of Windows 10's bcryptprimitives.dll that Go's runtime needs, and Wine before 8.14 lacks.
_PROCESS_PRNG = """
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) { return RtlGenRandom(data, (ULONG)length); }
"""


def missing_packages() -> str:
    """What has to be installed before Wine can be used; empty if nothing."""
    fields = {"wine64": _wine(), "gcc-mingw-w64-x86-64": shutil.which(_COMPILER)}
    missing = [package for package, result in fields.items() if not result]
    return f"install Debian's {' and '.join(missing)}" if missing else ""


def config_check(configuration: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """`telegraf.exe config check` on a configuration, with more in its environment: its status, and what it said."""
    return _telegraf(environment, "config", "check", "--config", f"Z:{configuration.absolute()}")


def collect_once(configuration: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """`telegraf.exe --test` on a configuration: as `config_check`, and its inputs run once.

    Here they find nothing, as on a host that has none of what they are to collect.
    """
    return _telegraf(environment, "--strict-env-handling", "--config", f"Z:{configuration.absolute()}", "--test")


def _telegraf(environment: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(TELEGRAF_WINDOWS.path, *arguments, environment=environment)


def run(program: Path, *arguments: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """A program for Windows, with more in its environment: its status, and what it said."""
    wine = _wine()
    if wine is None:
        raise Unusable(f"Wine is needed to run a program for Windows; {missing_packages()}")
    return subprocess.run(
        [wine, str(program), *arguments],
        env={**_environment(_prefix(wine)), **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def compile_library(source: Path, library: Path) -> None:
    """Make a DLL of a file of C."""
    _call([_COMPILER, "-Wall", "-Werror", "-shared", "-O1", "-o", str(library), str(source)], os.environ)


def _wine() -> str | None:
    return shutil.which("wine64", path=_WINE_PLACES) or shutil.which("wine", path=_WINE_PLACES)


def _environment(prefix: Path) -> dict[str, str]:
    return {
        **os.environ,
        "WINEPREFIX": str(prefix),
        "WINEDEBUG": "-all",
        # Else it offers to download these two.
        "WINEDLLOVERRIDES": "mscoree,mshtml=",
        "DISPLAY": "",
    }


def _prefix(wine: str) -> Path:
    """A Windows for Wine to run in, in the cache; it is made once, which takes some seconds."""
    prefix = cache_folder() / "native" / "wine"
    if prefix.is_dir():
        return prefix
    prefix.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=prefix.parent) as folder:
        partial = Path(folder, "wine")
        environment = _environment(partial)
        _call([wine, "wineboot", "--init"], environment)
        source = Path(folder, "bcryptprimitives.c")
        source.write_text(_PROCESS_PRNG, "utf-8")
        library = partial / "drive_c" / "windows" / "system32" / "bcryptprimitives.dll"
        _call([_COMPILER, "-shared", "-O1", "-o", str(library), str(source), "-ladvapi32"], environment)
        # Its server writes the registry when it ends, and would write it where the prefix was.
        _call([wine, "wineboot", "--end-session", "--shutdown"], environment)
        if server := shutil.which("wineserver", path=_WINE_PLACES):
            _call([server, "-w"], environment)
        try:
            partial.rename(prefix)
        except OSError:
            # Someone else was faster.
            if not prefix.is_dir():
                raise
    return prefix


def _call(command: list[str], environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        join = " ".join(done.stdout.split()[-30:])
        raise Unusable(f"Wine cannot be set up: {Path(command[0]).name} failed: {join}")
