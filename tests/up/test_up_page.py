"""The commands and the configuration that docs/up.md shows."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.conftest import built

PAGE = (Path(__file__).parents[2] / "docs" / "up.md").read_text(encoding="utf-8")
LINES = [line for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S) for line in block.splitlines()]


@pytest.mark.parametrize("line", LINES)
def test_the_command_is_known_and_has_the_options(plimsoll, line):
    program, *words = shlex.split(line)
    assert program == "plimsoll"
    if words[0] == "service":
        done = plimsoll("service", "install", "--dry-run", *words[2:])  # it is shown, and not done
        assert done.status == 0, done.err
        assert "systemctl enable --now plimsoll.service" in done.out
        words = ["up", *words[words.index("--") + 1 :]] if "--" in words else ["up"]
    result = plimsoll(words[0], "--help")
    if "No such command" in result.err:
        pytest.skip(f"plimsoll {words[0]} is not here")
    assert [word for word in words if word.startswith("--") and word not in result.out] == []


def test_telegraf_takes_the_output(tmp_path):
    (output,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S)
    file = tmp_path / "up.conf"
    file.write_text(f"{output}\n[[inputs.mem]]\n")
    command = [built("telegraf"), "--strict-env-handling", "config", "check", "--config", file]
    done = subprocess.run(
        command, env={**os.environ, "PLIMSOLL_TOKEN": "t"}, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, "E!" in done.stderr) == (0, False), done.stderr
