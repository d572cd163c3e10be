"""Building servers: found again by what they are built from, whole or not at all, and one line where it cannot be."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plimsoll.native import folders, programs
from plimsoll.native.background import Unusable
from plimsoll.native.build import build
from plimsoll.native.programs import INFLUXDB, INFLUXQL, PROGRAMS, TELEGRAF, TELEGRAF_WINDOWS

ROOT = Path(__file__).parents[2]
MODULES = {program.module for program in PROGRAMS.values()}


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache."""
    monkeypatch.setenv("PLIMSOLL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def tools(monkeypatch, tmp_path):
    """Sets up a PATH that holds these programs alone: shell scripts."""
    place = tmp_path / "tools"
    place.mkdir()
    monkeypatch.setenv("PATH", str(place))

    def make(**scripts):
        for name, script in scripts.items():
            (place / name).write_text(f"#!/bin/sh\n{script}\n")
            (place / name).chmod(0o755)

    return make


def go(build="exit 0", version="go1.99.0"):
    return f'case "$1" in env) case "$2" in CC) echo cc;; *) echo {version};; esac;; version) echo go version {version};; build) {build};; esac'


posix = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins for Go are shell scripts")


def test_each_has_a_place_of_its_own(cache):
    paths = [program.path for program in PROGRAMS.values()]
    assert len(set(paths)) == len(paths)
    assert all(path.is_relative_to(cache) for path in paths)
    assert TELEGRAF_WINDOWS.path.name == "telegraf.exe"
    assert TELEGRAF.version in TELEGRAF.path.parent.name


def test_the_place_depends_on_what_it_is_built_from(cache, monkeypatch, tmp_path):
    before = {name: program.path for name, program in PROGRAMS.items()}
    copy = tmp_path / "native"
    for name in MODULES:
        shutil.copytree(ROOT / "plimsoll" / "native" / name, copy / name)
    monkeypatch.setattr(programs, "_MODULES", copy)
    assert {name: program.path for name, program in PROGRAMS.items()} == before
    with (copy / "telegraf" / "plugins.txt").open("a") as plugins:
        plugins.write("inputs.ping\n")
    changed = {name for name, program in PROGRAMS.items() if program.path != before[name]}
    assert changed == {"telegraf", "telegraf-windows"}


def test_the_cache_is_the_users(monkeypatch, tmp_path):
    monkeypatch.delenv("PLIMSOLL_CACHE", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert folders.cache() == tmp_path / "plimsoll"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert folders.cache() == Path.home() / ".cache" / "plimsoll"


def test_module_files_are_complete():
    """A build looks nothing up in the checksum database: each module that is required has its hash."""
    for name in MODULES:
        module = ROOT / "plimsoll" / "native" / name
        sums = (module / "go.sum").read_text()
        required = [line.split() for line in (module / "go.mod").read_text().splitlines() if line.startswith("\t")]
        lacking = [
            line[0] for line in required if len(line) >= 2 and line[1][0] == "v" and f"{line[0]} {line[1]}" not in sums
        ]
        assert lacking == []


def test_the_parser_is_influxdbs_own():
    assert f"github.com/influxdata/influxql v{INFLUXQL.version}" in (INFLUXDB.folder / "go.mod").read_text()


@posix
def test_without_go(cache, tools, plimsoll):
    done = plimsoll("stack", "start", "--folder", cache / "stack")
    assert (done.status, done.out) == (2, "")
    assert done.err == ("plimsoll: Go 1.24 or later is needed to build InfluxDB; install it, or use docker compose\n")
    assert not cache.exists()


@posix
@pytest.mark.parametrize(
    ("version", "fine"), [("go1.19.8", False), ("go1.25", False), ("go1.25.5", True), ("go1.101", True)]
)
def test_a_go_that_is_too_old(cache, tools, version, fine):
    tools(go=go("echo made >/dev/null", version))
    with pytest.raises(
        Unusable, match=r"cannot be written" if fine else rf"Go 1.25.5 or later is .* this is go version {version};"
    ):
        build(TELEGRAF)


@posix
def test_without_a_compiler_or_rust(cache, tools):
    tools(go=go())
    with pytest.raises(Unusable, match="A C compiler is needed to build InfluxDB"):
        build(INFLUXDB)
    tools(cc="exit 0")
    with pytest.raises(Unusable, match=r"Rust \(cargo\) is needed to build InfluxDB; .* or use docker compose"):
        build(INFLUXDB)


@posix
def test_a_build_that_fails_says_the_last_of_it_and_where_the_rest_is(cache, tools):
    tools(go=go("echo one; echo; echo two; echo three; echo four >&2; exit 1"))
    with pytest.raises(Unusable) as error:
        build(TELEGRAF)
    (log,) = (cache / "native" / "logs").iterdir()
    assert str(error.value) == f"Telegraf could not be built: two / three / four; {log} has the whole log"
    assert not TELEGRAF.built


@posix
def test_a_build_that_is_interrupted_leaves_nothing(cache, tools, tmp_path):
    """Neither the program, in whole or in part, nor the compiler at work."""
    pid = tmp_path / "pid"
    tools(go=go(f"echo half > $3; echo $$ > {pid}; exec {shutil.which('sleep', path=os.defpath)} 100"))
    command = [sys.executable, "-c", "from plimsoll.native.build import main; raise SystemExit(main(['telegraf']))"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    while not pid.exists() or not pid.read_text():
        assert process.poll() is None
        time.sleep(0.02)
    time.sleep(1)  # it was started; that its builder knows, too, takes a moment
    process.send_signal(2)
    assert process.communicate()[1] == "plimsoll.native.build: interrupted\n"
    assert process.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert list(TELEGRAF.path.parent.iterdir()) == []


@posix
def test_two_builders_at_once(cache, tools):
    tools(go=go("sleep=1; echo '#!/bin/sh' > $3; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo whole >> $3"))
    command = [sys.executable, "-m", "plimsoll.native.build", "telegraf"]
    builders = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert {builder.communicate()[0] for builder in builders} == {f"{TELEGRAF.path}\n"}
    assert [builder.returncode for builder in builders] == [0, 0, 0]
    assert TELEGRAF.path.read_text() == "#!/bin/sh\nwhole\n"
    assert list(TELEGRAF.path.parent.iterdir()) == [TELEGRAF.path]


@posix
def test_what_is_built_is_not_built_again(cache, tools):
    TELEGRAF.path.parent.mkdir(parents=True)
    TELEGRAF.path.touch()
    assert build(TELEGRAF) == TELEGRAF.path


def test_it_runs_on_python_alone(cache):
    """Before Plimsoll's own packages are installed."""
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT)!r}); import plimsoll.native.build",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert (
        subprocess.run(
            [sys.executable, "-m", "plimsoll.native.build", "nix"], cwd=ROOT, capture_output=True, check=False
        ).returncode
        == 2
    )


def test_the_real_ones(telegraf, influxql):
    said = subprocess.run([telegraf, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.strip() == f"Telegraf {TELEGRAF.version}"
