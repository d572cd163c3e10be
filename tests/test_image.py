"""What the image does by default: its command starts, and its health check finds that it is well."""

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import yaml

from tests.conftest import free_port

ROOT = Path(__file__).parents[1]
IMAGE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
DATA = "/var/lib/plimsoll"


# The command of the health check, and that of the image.
CHECK, COMMAND = (json.loads(words) for words in re.findall(r"^ *CMD (\[.*\])$", IMAGE, re.M))


def test_it_runs_as_its_user_and_keeps_its_data_in_a_volume():
    user, volume, cmd = (IMAGE.index(word) for word in ("\nUSER plimsoll\n", f"\nVOLUME {DATA}\n", "\nCMD "))
    assert user < volume < cmd
    assert f"--owner=plimsoll --group=plimsoll --mode=700 {DATA}" in IMAGE
    service = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]["plimsoll"]
    assert f"plimsoll-data:{DATA}" in service["volumes"]
    assert service["cap_drop"] == ["ALL"]
    assert [word for word in COMMAND if word.startswith("--")] == ["--no-collect", "--store", "--listen"]
    assert {word.split("=")[0] for word in service["command"] if word.startswith("--")} > {
        "--no-collect",
        "--store",
        "--listen",
    }


def test_its_command_starts_and_is_found_healthy(tmp_path):
    program, *words = COMMAND
    port = str(free_port())
    words = [word.replace(DATA, str(tmp_path / "data")).replace("8087", port) for word in words]
    python, *check = [word.replace("8087", port) for word in CHECK]
    assert (program, python) == ("plimsoll", "python")
    which = shutil.which(str(program), path=str(Path(sys.executable).parent))
    assert which
    with subprocess.Popen([which, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        try:
            until = time.monotonic() + 300
            while (unwell := subprocess.run([sys.executable, *check], capture_output=True, check=False)).returncode:
                assert running.poll() is None, running.communicate()[0]
                assert time.monotonic() < until, unwell.stderr
                time.sleep(0.5)
            while not (tmp_path / "data" / "new-secrets").is_file():
                assert time.monotonic() < until, "docs/docker.md says that it is there"
                time.sleep(0.5)
        finally:
            running.terminate()
