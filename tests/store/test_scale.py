"""The compose files of docs/scale.md: what they start is there, and a real pair goes on when one of it is killed."""

import os
import subprocess
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import urllib3
import yaml

from plimsoll.store.victoriametrics.address import VictoriaMetricsAddress
from plimsoll.store.victoriametrics.names import Measurements
from plimsoll.store.victoriametrics.samples import VictoriaSamples
from plimsoll.store.victoriametrics.server import VictoriaMetricsServer
from tests.conftest import VictoriaMetrics, built, free_port
from tests.store.test_contract import EVER, cpu, points

FOLDER = Path(__file__).parents[2] / "docs" / "scale"
FILES = ("single", "pair", "cluster")
TOKENS = {"AGENT_TOKEN": "for-agents", "PLIMSOLL_TOKEN": "for-plimsoll"}


def services(name):
    return yaml.safe_load((FOLDER / f"{name}.yml").read_text())["services"]


@pytest.mark.parametrize("name", FILES)
def test_a_compose_file_is_valid_and_needs_its_tokens(name, installed):
    program = installed("docker-compose", "docker-compose")
    command = [program, "--project-directory", FOLDER, "-f", FOLDER / f"{name}.yml", "config"]
    fields = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    run = [subprocess.run(command, capture_output=True, text=True, check=False, env={**fields, **result}) for result in (TOKENS, {})]  # fmt: skip
    assert run[0].returncode == 0, run[0].stderr
    assert (run[1].returncode == 0) == (name == "single")


@contextmanager
def running(name, folder, flags, path="/health"):
    """A program of VictoriaMetrics; its address."""
    address = f"127.0.0.1:{free_port()}"
    command = [built(name), f"-httpListenAddr={address}", *flags]
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen([*map(str, command)], stdout=log, stderr=log, env={**os.environ, **TOKENS})
    try:
        while True:
            assert process.poll() is None, (folder / f"{name}.log").read_text()
            try:
                urllib3.request("GET", f"http://{address}{path}", retries=False, timeout=1)
                break
            except urllib3.exceptions.HTTPError:
                time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait()


def filled(live, last):
    """The samples, as soon as the last one has this value; one that is killed may have lost earlier ones."""
    until = time.monotonic() + 300
    while [last] != (tolist := live.read([cpu()], *EVER)[0].values.tolist())[-1:] and time.monotonic() < until:
        time.sleep(0.2)
    return tolist


def test_a_pair_goes_on_when_one_is_killed_and_makes_up_for_it(tmp_path):
    with ExitStack() as stack:
        pair = []
        for number in (1, 2):
            folder = tmp_path / str(number)
            folder.mkdir()
            pair.append(stack.enter_context(VictoriaMetrics(folder)))
        flags = [f"-remoteWrite.url={entry.url}/api/v1/write" for entry in pair]
        agent = stack.enter_context(
            running("vmagent", tmp_path, [*flags, f"-remoteWrite.tmpDataPath={tmp_path / 'agent'}"])
        )
        text = (FOLDER / "pair-vmauth.yml").read_text().replace("http://vmagent:8429", f"http://{agent}")
        for number, item in enumerate(pair, 1):
            text = text.replace(f"http://vm-{number}:8428", item.url)
        (tmp_path / "auth.yml").write_text(text)
        auth = stack.enter_context(running("vmauth", tmp_path, [f"-auth.config={tmp_path / 'auth.yml'}"]))
        line = b"win_cpu,host=WEB9 Percent_User_Time=1 1700000000000000000"
        for token, status in (("for-agents", 204), ("wrong", 401)):
            sent = urllib3.request("POST", f"http://{auth}/api/v2/write", body=line, headers={"Authorization": f"Token {token}"})  # fmt: skip
            assert sent.status == status
        server = VictoriaMetricsServer(
            VictoriaMetricsAddress.parse(f"victoriametrics://{auth}", TOKENS["PLIMSOLL_TOKEN"])
        )
        live = VictoriaSamples(server, Measurements())
        live.write_points(points((cpu(), 0, 1.0), (cpu(), 10, 2.0)))
        assert filled(live, 2) == [1, 2]
        pair[0].end(kill=True)
        live.write_points(points((cpu(), 20, 3.0)))
        assert filled(live, 3) == [1, 2, 3]
        pair[0].start()
        direct = VictoriaSamples(
            VictoriaMetricsServer(VictoriaMetricsAddress.parse(f"victoriametrics://{pair[0].address}")), Measurements()
        )
        assert filled(direct, 3)[-1] == 3
        live.close()
        direct.close()
