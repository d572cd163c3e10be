"""docker-compose.yml is valid, its files exist, and its images have the versions that are tested here."""

import json
import os
import re
import runpy
import stat
import subprocess
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
import yaml

from plimsoll.model.shipped_tables import find_shipped_files
from plimsoll.store.influx import tokens
from tests.servers.influx import InfluxDB
from tests.servers.programs import INFLUXDB, TELEGRAF

ROOT = Path(__file__).parents[2]
FILE = yaml.load((ROOT / "docker-compose.yml").read_text(), yaml.CSafeLoader)
SERVICES, SECRETS = FILE["services"], FILE["secrets"]
SECRET = {tokens.PASSWORD, tokens.ADMIN_TOKEN, "GRAFANA_PASSWORD"}
VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)(:[-?])?([^}]*)\}")


@pytest.fixture
def docker_env():
    return runpy.run_path(str(ROOT / "install" / "docker_env.py"))


@pytest.fixture
def docker_compose(installed, tmp_path):
    """Has docker-compose check the file with an environment file; its status, and what it said."""
    program = installed("docker-compose", "docker-compose")
    # Debian's docker-compose is older than secrets from the environment.
    checked = tmp_path / "docker-compose.yml"
    checked.write_text(yaml.safe_dump({**FILE, "secrets": {name: {"file": os.devnull} for name in SECRETS}}))

    def config(env_file):
        return subprocess.run(
            [program, "--env-file", str(env_file), "--project-directory", str(ROOT), "-f", str(checked), "config"],
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")},
        )

    return config


def mounts(service):
    """Where from, where to, how."""
    for volume in SERVICES[service].get("volumes", ()):
        # A default may hold no colon but the one before it.
        source, target, *mode = re.split(r":(?!-)", volume)
        yield VARIABLE.sub(lambda values: values[3], source), target, "".join(mode)


def test_the_file_is_valid_with_the_env_file_that_is_generated(docker_compose, docker_env, tmp_path):
    env_file = tmp_path / ".env"
    assert docker_env["main"](str(env_file)) == 0
    assert stat.S_IMODE(env_file.stat().st_mode) == 0o600
    done = docker_compose(env_file)
    assert done.returncode == 0, done.stderr
    read = dict(line.split("=", 1) for line in env_file.read_text().splitlines() if line[0] != "#")
    services = yaml.load(done.stdout, yaml.CSafeLoader)["services"]
    assert services["influxdb"]["environment"]["DOCKER_INFLUXDB_INIT_USERNAME"] == read[tokens.USERNAME]
    assert not any(read[name] in done.stdout for name in SECRET)


def test_secrets_are_files_in_the_services_that_need_them():
    assert sorted(source["environment"] for source in SECRETS.values()) == sorted(SECRET)
    result = {name: set(service.get("secrets", ())) for name, service in SERVICES.items() if service.get("secrets")}
    influxdb = {"influx-password", "influx-admin-token"}
    assert result == {"influxdb": influxdb, "tokens": influxdb, "grafana": {"grafana-password"}}
    for name, service in SERVICES.items():
        files = {value for value in service.get("environment", {}).values() if "/run/secrets/" in value}
        assert files == {f"/run/secrets/{secret}" for secret in result.get(name, ())}


def test_tokens_are_made_with_the_secrets_in_files(influxdb, tmp_path, monkeypatch, capsys):
    values = {
        tokens.URL: influxdb.url,
        tokens.ORG: influxdb.org,
        tokens.BUCKET: influxdb.bucket,
        tokens.USERNAME: "plimsoll",
        "INFLUX_PASSWORD_FILE": "unused here",
        "INFLUX_ADMIN_TOKEN_FILE": influxdb.admin_token,
    }
    assert values.keys() >= SERVICES["tokens"]["environment"].keys()
    for name, value in values.items():
        if name.endswith("_FILE"):
            (tmp_path / name).write_text(f"{value}\n")
        monkeypatch.setenv(name, str(tmp_path / name) if name.endswith("_FILE") else value)
    assert tokens.main([str(tmp_path / "volumes")]) == 0
    assert (tmp_path / "volumes" / "ingest" / "token").is_file()
    monkeypatch.setenv("INFLUX_ADMIN_TOKEN_FILE", str(tmp_path / "gone"))
    assert tokens.main([str(tmp_path / "volumes")]) == 3
    assert f"{tmp_path / 'gone'}: cannot be read" in capsys.readouterr().err


def test_without_it_one_is_told_how_to_make_it(docker_compose, tmp_path):
    (tmp_path / ".env").touch()
    done = docker_compose(tmp_path / ".env")
    assert done.returncode != 0
    assert "run python3 install/docker_env.py" in done.stderr


def test_an_env_file_that_is_there_is_left_alone(docker_env, tmp_path):
    env_file = tmp_path / ".env"
    env_file.write_text("mine\n")
    assert (docker_env["main"](str(env_file)), env_file.read_text()) == (2, "mine\n")


def test_no_two_installations_share_a_secret(docker_env):
    first, second = docker_env["settings"](), docker_env["settings"]()
    assert {name for name in first if first[name] != second[name]} == SECRET
    assert all(re.fullmatch(r"[\w-]{32,}", first[name]) for name in SECRET)


def test_every_variable_has_a_default_or_is_generated(docker_env):
    used = {result[0]: result[1] for result in VARIABLE.findall((ROOT / "docker-compose.yml").read_text())}
    generated = set(docker_env["settings"]())
    assert {name for name, kind in used.items() if kind == ":?"} == generated - {tokens.URL} - SECRET
    assert {name for name, kind in used.items() if kind == ":-"}.isdisjoint(generated)
    assert "" not in used.values()


def test_every_folder_and_file_that_is_mounted_exists():
    volumes = set(yaml.load((ROOT / "docker-compose.yml").read_text(), yaml.CSafeLoader)["volumes"])
    for service in SERVICES:
        for source, target, mode in mounts(service):
            if source[0] in "./":
                assert (ROOT / source).exists(), f"{service} mounts {source}"
                assert mode == "ro", f"{service} could write to {source}"
            else:
                assert source in volumes
            assert target.startswith("/")


def test_ports_are_open_to_this_machine_alone():
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert ports
    assert all(port.startswith("${LISTEN:-127.0.0.1}:") for port in ports)


def test_no_container_has_rights_or_memory_without_bound():
    for name, service in SERVICES.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert re.fullmatch(r"[1-9]\d*[mg]", service["mem_limit"]), name
        assert not {"privileged", "devices", "pid", "ipc"} & service.keys(), name
        assert set(service.get("cap_add", ())) <= {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"}, name


def test_the_versions_are_those_that_are_tested_here():
    digest = "@sha256:[0-9a-f]{64}"
    assert re.fullmatch(f"influxdb:{INFLUXDB.version}{digest}", SERVICES["influxdb"]["image"])
    assert re.fullmatch(f"telegraf:{TELEGRAF.version}{digest}", SERVICES["telegraf"]["image"])
    assert re.fullmatch(rf"grafana/grafana:13\.\d+\.\d+{digest}", SERVICES["grafana"]["image"])
    assert re.search(rf"^FROM python:3\.\d+\.\d+-\S+{digest}$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)


def test_each_token_reaches_the_one_who_needs_it_alone():
    owners = tokens.FOLDERS
    assert {target for _, target, _ in mounts("tokens")} == {f"/run/plimsoll/{owner}" for owner in owners.values()}
    assert SERVICES["tokens"]["command"][-1] == "/run/plimsoll"
    for owner in owners.values():
        services = [service for service in SERVICES for source, _, _ in mounts(service) if source == f"token-{owner}"]
        assert sorted(services) == sorted(["tokens", owner])
        assert ("/run/plimsoll", "ro") in [
            (target, mode) for source, target, mode in mounts(owner) if source == f"token-{owner}"
        ]


def test_telegraf_gets_every_variable_its_configuration_needs():
    needed = {
        name for name, default, _ in VARIABLE.findall((ROOT / "telegraf" / "linux.conf").read_text()) if default != ":-"
    }
    assert needed == {*SERVICES["telegraf"]["environment"], "INFLUX_TOKEN"} - {"HOST_PROC", "HOST_SYS"}


def test_tokens_are_made_once_and_anew_where_influxdb_does_not_know_them(influxdb, tmp_path):
    with InfluxDB(tmp_path / "influxdb") as answer:
        result = {name: answer[name] for name in tokens.REQUIRED}
        place = tmp_path / "volumes"
        assert tokens.provide_tokens(result, place) == list(tokens.FOLDERS)
        files = {name: place / folder / "token" for name, folder in tokens.FOLDERS.items()}
        first = {name: file.read_text() for name, file in files.items()}
        assert tokens.provide_tokens(result, place) == []
        assert {name: file.read_text() for name, file in files.items()} == first
        files[tokens.TOKEN_GRAFANA].chmod(0o644)
        files[tokens.TOKEN_GRAFANA].write_text("of another InfluxDB")
        files[tokens.TOKEN_INGEST].unlink()
        assert tokens.provide_tokens(result, place) == [tokens.TOKEN_GRAFANA, tokens.TOKEN_INGEST]
        assert files[tokens.TOKEN_TELEGRAF].read_text() == first[tokens.TOKEN_TELEGRAF]
        outcome = tokens.Api(answer[tokens.URL], answer[tokens.ADMIN_TOKEN]).tokens()
        assert {file.read_text().strip() for file in files.values()} <= outcome


def test_telegraf_starts_as_it_does_in_its_container(bucket, telegraf, tmp_path):
    """Its entry point, with local paths in place of the container's, writes to a real InfluxDB."""
    (tmp_path / "token").write_text(bucket.telegraf_token + "\n")
    shell, flag, script = SERVICES["telegraf"]["entrypoint"]
    for result, here in {
        "$$": "$",
        "/run/plimsoll/token": str(tmp_path / "token"),
        "/etc/plimsoll/telegraf": str(find_shipped_files("telegraf")),
        "exec telegraf": f"exec {telegraf}",
    }.items():
        assert result in script
        script = script.replace(result, here)
    environment = {
        "INFLUX_URL": bucket.url,
        "INFLUX_ORG": bucket.org,
        "INFLUX_BUCKET": bucket.bucket,
        "PATH": os.defpath,
    }
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([shell, flag, script], env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        until = time.monotonic() + 300
        while '["mem"]' not in asked_as_grafana(bucket, "SHOW MEASUREMENTS"):
            assert process.poll() is None, (tmp_path / "log").read_text()
            assert time.monotonic() < until, (tmp_path / "log").read_text()
            time.sleep(0.5)
    finally:
        process.terminate()
        process.wait()


def asked_as_grafana(bucket, query):
    """What InfluxDB answers to a request such as Grafana makes by dashboards/provisioning/datasource.yaml."""
    (source,) = yaml.load((ROOT / "dashboards" / "provisioning" / "datasource.yaml").read_text(), yaml.CSafeLoader)[
        "datasources"
    ]
    environment = {"$INFLUX_URL": bucket.url, "$INFLUX_BUCKET": bucket.bucket}
    token_file = "/run/plimsoll/token"
    assert token_file.rpartition("/")[0] in [target for _, target, _ in mounts("grafana")]
    header = source["secureJsonData"]["httpHeaderValue1"].replace(f"$__file{{{token_file}}}", bucket.grafana_token)
    assert "$" not in header
    options = source["jsonData"]
    parameters = urllib.parse.urlencode({"db": environment[options["dbName"]], "epoch": "ms"})
    request = urllib.request.Request(
        f"{environment[source['url']]}/query?{parameters}",
        urllib.parse.urlencode({"q": query}).encode(),
        {options["httpHeaderName1"]: header},
        method=options["httpMode"],
    )
    with urllib.request.urlopen(request, timeout=300) as response:
        return response.read().decode()


def test_the_data_source_reads_what_is_written(bucket):
    for name in ("$INFLUX_URL", "$INFLUX_BUCKET"):
        assert name[1:] in SERVICES["grafana"]["environment"]
    urlencode = urllib.parse.urlencode({"org": bucket.org, "bucket": bucket.bucket})
    request = urllib.request.Request(
        f"{bucket.url}/api/v2/write?{urlencode}",
        b"m f=1 1000000000",
        {"Authorization": f"Token {bucket.telegraf_token}"},
    )
    with urllib.request.urlopen(request, timeout=300):
        pass
    answer = json.loads(asked_as_grafana(bucket, 'SELECT "f" FROM "m"'))
    assert answer["results"][0]["series"][0]["values"] == [[1000, 1]]


def test_ingest_is_called_as_it_is_documented():
    shell, flag, script, name = SERVICES["ingest"]["entrypoint"]
    stand_in = (
        script.replace("$$", "$").replace("/run/plimsoll/token", "/dev/null").replace("exec plimsoll", "echo plimsoll")
    )
    done = subprocess.run(
        [shell, flag, stand_in, name, ".", "--run", "a b"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "plimsoll ingest . --run a b\n"
    assert (ROOT / "docker-compose.yml").read_text().count("docker compose run --rm ingest . --run") == 1


def test_the_image_is_made_of_what_the_wheel_is_made_of():
    listed = {line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")}
    assert listed == {"plimsoll", "rules", "dashboards", "telegraf", "install", "pyproject.toml", "README.md"}
    assert "--require-hashes -r install/requirements.txt" in (ROOT / "Dockerfile").read_text()
