"""The configurations collect exactly the sources of the signals."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

from plimsoll.model.names import find_measurement, load_shipped
from plimsoll.model.perfmon import CounterPath, split_object
from plimsoll.model.series import LOAD_DRIVER
from plimsoll.rules.load import load_signals
from plimsoll.rules.signal_finder import Finder

TELEGRAF = Path(__file__).parents[2] / "telegraf"
# All but what esxtop records on ESXi, where no Telegraf runs.
SIGNALS = {name: signal for name, signal in load_signals().items() if not name.startswith("esxi.")}
SOURCES = [(name, source) for name, signal in SIGNALS.items() for source in signal.sources]
PATHS = {source.path for _, source in SOURCES if source.path}
# A fallback stands in for what others did not record: these configurations record the source that it stands in for.
FIELDS = {
    (source.measurement, field)
    for _, source in SOURCES
    if source.measurement and not source.fallback
    for field in source.fields
}

# Objects that no Windows has any more on which Telegraf runs.
OF_OLD = {"Network Segment", "Site Server LDAP Service"}
# sysstat's log, in which sadf writes what the other plugins collect live.
SYSSTAT = {
    *("cpu_util", "per_cpu", "task", "interrupts", "mem_util", "swap_util", "disk", "swap", "paging", "queue"),
    *("network", "filesystem", "psi"),
}
# What telegraf/checks.conf shows: the measurement of each plugin, and its tags that change with the result.
CHANGING = {
    "win_services": set(),
    "systemd_units": {"load", "active", "sub"},
    "procstat": {"result"},
    "ping": set(),
    "net_response": {"result"},
    "http_response": {"result", "status_code"},
    "x509_cert": set(),
}
CHECKED = {*CHANGING, "procstat_lookup"} - {"procstat"}


def read(name):
    return tomllib.loads((TELEGRAF / name).read_text())


@pytest.fixture
def windows():
    return read("windows.conf")["inputs"]["win_perf_counters"]


@pytest.fixture
def objects(windows):
    return [item for plugin in windows for item in plugin["object"]]


def name_of(item):
    """The name of an object once Telegraf has filled in the variable, $$ and all."""
    return re.sub(r"\$\$\$\{\w+:-(\w+)\}", r"$\1", item["ObjectName"])


def instances_of(item):
    names = {None if name == "------" else name for name in item["Instances"]}
    return names | {"_Total"} if item.get("IncludeTotal") else names


def series_of(item):
    """What Telegraf writes of an object, with one instance of each kind, and those that signals name."""
    name = name_of(item)
    instances = instances_of(item)
    if "*" in instances:
        named = {path.instance for path in PATHS if path.object == split_object(name)[0]} - {None, "*", "_Total"}
        instances = instances - {"*"} | named | {"x"}
    for counter in item["Counters"]:
        for instance in instances:
            yield load_shipped().series(CounterPath(None, name, instance, counter), "HOST")


def test_every_signal_of_windows_is_collected(objects):
    finder = Finder(load_signals(), [series for result in objects for series in series_of(result)], lambda item: True)
    paths = {}
    for name, source in SOURCES:
        if source.path:
            paths.setdefault(name, set()).add(source.path.object)
    assert (
        {name for name in paths if not finder.find(name)} == {name for name in paths if paths[name] <= OF_OLD} != set()
    )


def test_every_counter_is_of_a_signal(objects):
    taken = {(path.object, path.counter) for path in PATHS}
    collected = {(split_object(name_of(item))[0], counter) for item in objects for counter in item["Counters"]}
    assert collected - taken == set()
    totals = {(path.object, path.instance) for path in PATHS}
    assert [
        name_of(item)
        for item in objects
        if item.get("IncludeTotal") and (split_object(name_of(item))[0], "_Total") not in totals
    ] == []


def test_named_instances_have_the_counters_of_the_default_one(objects):
    default = {item["ObjectName"]: item["Counters"] for item in objects if item["ObjectName"].startswith("SQLServer:")}
    named = {split_object(name_of(item))[0]: item["Counters"] for item in objects if "MSSQL" in item["ObjectName"]}
    assert default == named != {}


def test_measurements_are_those_of_logs(objects):
    assert {name_of(item): item["Measurement"] for item in objects} == {
        name_of(item): find_measurement(name_of(item)) for item in objects
    }


def test_what_is_generated_of_windows_conf_is_up_to_date():
    build = runpy.run_path(str(TELEGRAF / "build.py"))
    assert (TELEGRAF / "windows.conf").read_text(encoding="utf-8") == build["windows"](), (
        "run: python telegraf/build.py"
    )


def test_windows_plugins_avoid_the_traps(windows):
    for plugin in windows:
        assert len(plugin["object"]) == 1  # an error ends the collection of all objects of a plugin
        assert plugin["UseWildcardsExpansion"] is True
        assert plugin["LocalizeWildcardsExpansion"] is False
        assert plugin["IgnoredErrors"] == ["PDH_NO_DATA"]
        # A host that lacks an object goes on with the others.
        assert not any(item.get("FailOnMissing") or item.get("WarnOnMissing") for item in plugin["object"])
        assert all(item["Instances"] for item in plugin["object"])
        assert "*" not in "".join(item["ObjectName"] + "".join(item["Counters"]) for item in plugin["object"])
    assert len({plugin["alias"] for plugin in windows}) == len(windows)


def test_every_field_is_collected():
    linux = set(read("linux.conf")["inputs"])
    sql = read("sqlserver.conf")["inputs"]["sqlserver"][0]
    assert sql["include_query"] == ["SQLServerPerformanceCounters", "SQLServerWaitStats"]
    openldap = read("openldap.conf")["inputs"]
    assert openldap["openldap"][0]["reverse_metric_names"] is True
    container = read("container.conf")["inputs"]
    of_containers = {"cgroup", "docker_container_cpu", "docker_container_mem"}
    passed = {field for plugin in ("docker", "cgroup") for field in container[plugin][0]["fieldinclude"]}
    assert passed == {field for measurement, field in FIELDS if measurement in of_containers}
    text = (TELEGRAF / "linux.conf").read_text()
    assert "# [[inputs.chrony]]" in text  # it logs an error every time where there is no chrony
    assert "# [[inputs.nginx]]" in text  # nor is there nginx on every host
    collected = (
        linux
        | CHECKED
        | of_containers
        | {"pressure", "chrony", "nginx", "sqlserver_performance", "sqlserver_waitstats", "openldap", "ldap_probe"}
    )
    read_from_files = {*LOAD_DRIVER, "pidstat", "plimsoll_forecast"}  # no agent's to collect, nor is a forecast
    assert {item for item in FIELDS if item[0] not in collected | SYSSTAT | read_from_files} == set()
    assert {name for name, _ in FIELDS} >= SYSSTAT


def test_sql_server_counters_both_ways():
    passed = read("sqlserver.conf")["inputs"]["sqlserver"][0]["tagpass"]["counter"]
    taken = {source.tags["counter"] for _, source in SOURCES if source.measurement == "sqlserver_performance"}
    assert set(passed) == taken
    assert len(passed) == len(taken)


def test_linux_and_windows_send_alike():
    linux, windows = read("linux.conf"), read("windows.conf")
    assert linux["agent"] == windows["agent"]
    assert linux["outputs"] == windows["outputs"]
    assert (linux["agent"]["interval"], linux["agent"]["flush_interval"]) == ("10s", "2s")


def test_checks_are_told_apart_by_their_name_alone():
    """A tag that changes with the result would make different series of success and failure."""
    text = (TELEGRAF / "checks.conf").read_text(encoding="utf-8")
    shown = text[text.index("# [[inputs") :]
    inputs = tomllib.loads(re.sub(r"^# (?=\[\[|  )", "", shown, flags=re.M))["inputs"]
    assert {name: set(load[0].get("tagexclude", ())) for name, load in inputs.items()} == CHANGING
    assert all(load[0]["tags"]["check"] for load in inputs.values())
    assert inputs["x509_cert"][0]["taginclude"] == ["check", "source"]
    assert inputs["x509_cert"][0]["tagpass"] == {"type": ["leaf"]}
    sources = [source for _, source in SOURCES if source.measurement in CHECKED]
    assert {source.instance for source in sources} == {"check"}
    assert {source.measurement for source in sources} == CHECKED


@pytest.mark.parametrize("name", ["openldap.conf", "sqlserver.conf"])
def test_services_go_beside_a_host(name):
    """A second agent table would override the first, a second output would write everything twice."""
    assert set(read(name)) == {"inputs"}


@pytest.mark.parametrize("path", sorted(TELEGRAF.glob("*.conf")), ids=lambda path: path.name)
def test_secrets_come_from_the_environment(path):
    for line in path.read_text().splitlines():
        if re.match(r"\s*(token|bind_password|servers|password)\s*=", line):
            assert re.search(r'= \[?"\$\{[A-Z_]+(:-)?\}"\]?$', line), line


def test_the_telegraf_that_is_built_has_every_plugin():
    built = (TELEGRAF.parent / "tests" / "servers" / "telegraf" / "plugins.txt").read_text().split()
    used = {
        f"{kind}.{name}"
        for path in TELEGRAF.glob("*.conf")
        for kind in ("inputs", "outputs", "processors")
        for name in read(path.name).get(kind, {})
    }
    assert used - set(built) == set()
