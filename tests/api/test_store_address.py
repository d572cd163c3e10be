"""The address of the store and its token come from the same place."""

import pytest

from plimsoll.api import store_address as finding
from plimsoll.api.open_store import open_store
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter

PRESENT = "http://10.0.0.1:8086"


def store_address(typed, environment):
    result = finding.store_address(typed, environment)
    assert result is not None
    return result


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch, tmp_path):
    for name in ("INFLUX_URL", "INFLUX_TOKEN", "INFLUX_ORG", "INFLUX_BUCKET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def test_an_env_file_that_is_not_ours_names_no_store(tmp_path):
    (tmp_path / ".env").write_text("DATABASE_URL=x\n")
    assert finding.store_address(None, {}) is None


def test_an_env_file_of_ours_is_read_however_it_is_written(tmp_path):
    (tmp_path / ".env").write_text('\ufeffexport INFLUX_URL="http://10.0.0.1:8086"\n# more\nINFLUX_TOKEN=t\n', "utf-8")
    result = store_address(None, {})
    assert (result.url, result.token) == ("http://10.0.0.1:8086", "t")


def test_the_token_of_a_server_with_tls_is_not_sent_without(tmp_path):
    (tmp_path / ".env").write_text("INFLUX_URL=https://10.0.0.1:8086\nINFLUX_TOKEN=t\n")
    with pytest.raises(Unusable, match="no token"):
        store_address("http://10.0.0.1:8086", {})


def test_the_address_says_org_and_bucket():
    result = store_address("http://h:1?org=o&bucket=b", {"INFLUX_TOKEN": "t", "INFLUX_ORG": "x"})
    assert (result.url, result.org, result.bucket) == ("http://h:1", "o", "b")


def test_a_password_in_the_address_is_not_shown():
    with pytest.raises(Unusable) as refused:
        store_address("http://user:secret@h:1", {})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("token", ["a\nb", "€"])
def test_what_is_no_token_is_told_and_not_shown(token):
    with pytest.raises(Unusable, match="INFLUX_TOKEN") as refused:
        store_address("http://h:1", {"INFLUX_TOKEN": token})
    assert token not in str(refused.value)


def env_file(tmp_path, *lines):
    (tmp_path / ".env").write_text("\n".join(lines) + "\n")
    return tmp_path / ".env"


def test_an_env_file_does_not_direct_a_token_to_its_address(tmp_path):
    """Such a file may be in a folder of foreign logs."""
    file = env_file(tmp_path, f"INFLUX_URL={PRESENT}")
    with pytest.raises(Unusable, match="is not sent") as refused:
        store_address(None, {"INFLUX_TOKEN": "mine"})
    assert str(file) in str(refused.value)
    assert f"{Parameter.STORE} {PRESENT}" in str(refused.value)
    for typed in (None, PRESENT):
        with pytest.raises(Unusable, match="no token"):
            store_address(typed, {})
    assert store_address(PRESENT, {"INFLUX_TOKEN": "mine"}).token == "mine"  # one person gave both


def test_a_token_in_an_env_file_is_for_the_address_there(tmp_path):
    file = env_file(tmp_path, f"INFLUX_URL={PRESENT}", "INFLUX_TOKEN=its")
    for environment in ({}, {"INFLUX_TOKEN": "mine"}, {"INFLUX_URL": PRESENT}):
        result = store_address(None, environment)
        assert (result.url, result.token, result.token_file) == (PRESENT, "its", file)
    assert store_address(None, {"INFLUX_URL": "http://h:2", "INFLUX_TOKEN": "mine"}).token == "mine"
    for typed, environment in (("http://h:1", {}), (None, {"INFLUX_URL": "http://h:1"})):
        with pytest.raises(Unusable, match="no token"):
            store_address(typed, environment)


def test_a_token_in_an_env_file_without_an_address_is_for_none(tmp_path):
    env_file(tmp_path, "INFLUX_TOKEN=its")
    assert finding.store_address(None, {}) is None
    with pytest.raises(Unusable, match="no token"):
        store_address(None, {"INFLUX_URL": PRESENT})


def test_an_exported_token_is_for_the_exported_address():
    environment = {"INFLUX_URL": PRESENT, "INFLUX_TOKEN": "mine"}
    assert store_address(None, environment).token == "mine"
    assert store_address(f"{PRESENT}/?bucket=b", environment).token == "mine"
    with pytest.raises(Unusable, match=f"for {PRESENT}"):
        store_address("http://h:1", environment)


def test_the_file_of_the_token_is_named(plimsoll, bucket, tmp_path):
    lines = [f"INFLUX_{name.upper()}={getattr(bucket, name)}" for name in ("url", "org", "bucket", "token")]
    file = env_file(tmp_path, *lines)
    done = plimsoll("runs", "list")
    assert (done.status, done.err) == (0, f"store: {bucket.url}, with the token in {file}\n")
    env_file(tmp_path, *lines[:-1], "INFLUX_TOKEN=wrong")
    done = plimsoll("runs", "list")
    assert done.status == 2
    assert f"the token in {file} is wrong" in done.err


def test_a_folder_that_does_not_exist_is_no_address(tmp_path):
    missing = str(tmp_path / "missing")
    with pytest.raises(Unusable, match="no such folder or file"), open_store(missing):
        pass
