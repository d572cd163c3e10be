"""JMeter 5.6.3 as several findings run it: a plan of one user with the rows of its results, and its dashboard."""

import csv
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from common import install_maven_packages, output_of, serve_pages

_VERSION = "5.6.3"
_PARTS = ("components", "core", "http", "java")
_COLUMNS = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
    "grpThreads,allThreads,URL,Latency,IdleTime,Connect"
)
_PLAN = """<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="plan"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController" testclass="LoopController">
<boolProp name="LoopController.continue_forever">false</boolProp>
<stringProp name="LoopController.loops">{loops}</stringProp></elementProp>
<stringProp name="ThreadGroup.num_threads">1</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
</ThreadGroup><hashTree>
<TransactionController guiclass="TransactionControllerGui" testclass="TransactionController" testname="order">
<boolProp name="TransactionController.includeTimers">false</boolProp></TransactionController><hashTree>
{samplers}
</hashTree>{listener}</hashTree></hashTree></hashTree></jmeterTestPlan>"""
_LISTENER = """
<BackendListener guiclass="BackendListenerGui" testclass="BackendListener" testname="influx">
<elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{arguments}
</collectionProp></elementProp>
<stringProp name="classname">org.apache.jmeter.visualizers.backend.influxdb.InfluxdbBackendListenerClient</stringProp>
</BackendListener><hashTree/>"""
_ARGUMENT = """
<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp>
<stringProp name="Argument.value">{value}</stringProp></elementProp>"""
_SAMPLER = """
<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{name}">
<stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
<stringProp name="HTTPSampler.path">{path}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
<boolProp name="HTTPSampler.follow_redirects">true</boolProp>
<stringProp name="HTTPSampler.response_timeout">500</stringProp></HTTPSamplerProxy><hashTree>
<ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="think">
<stringProp name="ConstantTimer.delay">300</stringProp></ConstantTimer><hashTree/></hashTree>"""

_SETTINGS = {
    "influxdbMetricsSender": "org.apache.jmeter.visualizers.backend.influxdb.HttpMetricsSender",
    "application": "shop",
    "measurement": "jmeter",
    "samplersRegex": ".*",
    "percentiles": "90;95;99",
    "testTitle": "run",
}


@dataclass(frozen=True)
class Results:
    """The rows of a run's CSV, with JMeter's default columns, what it printed, and the lines of its listener."""

    rows: list[dict[str, str]]
    printed: str
    lines: list[str]


def run_plan(folder: Path, pages: Mapping[str, str], loops: int = 2) -> Results:
    """Run a transaction of pages (path by name), each after a pause of 300 ms, some times with one user.

    A page answers within 100 ms, `/hang` not within the 500 ms that are waited for it. An InfluxDB listener with its
    default settings sends line protocol.
    """
    posted: list[str] = []
    with serve_pages(delay_s=0.05, posted=posted) as address:
        port = address.rpartition(":")[2]
        samplers = "".join(_SAMPLER.format(name=name, path=path, port=port) for name, path in pages.items())
        settings = {"influxdbUrl": f"{address}/write?db=jmeter", "summaryOnly": "false", **_SETTINGS}
        arguments = "".join(_ARGUMENT.format(name=name, value=value) for name, value in settings.items())
        listener = _LISTENER.format(arguments=arguments)
        (folder / "plan.jmx").write_text(_PLAN.format(samplers=samplers, listener=listener, loops=loops), "utf-8")
        printed = _run(folder, "-n", "-t", "plan.jmx", "-l", "results.csv")
    with (folder / "results.csv").open(encoding="utf-8", newline="") as results:
        return Results(list(csv.DictReader(results)), printed, "".join(posted).split("\n"))


def make_dashboard(folder: Path, durations_ms: Sequence[int]) -> Path:
    """Make JMeter's dashboard of requests of a page, one every 10 ms; return its folder."""
    start_ms = 1764322800000
    rows = [
        f"{start_ms + position * 10},{duration_ms},page,200,OK,users 1-1,text,true,,10,10,1,1,http://h/,5,0,1"
        for position, duration_ms in enumerate(durations_ms)
    ]
    (folder / "results.csv").write_text("\n".join([_COLUMNS, *rows, ""]), "utf-8")
    _run(folder, "-g", "results.csv", "-o", "dashboard")
    return folder / "dashboard"


def _run(folder: Path, *arguments: str) -> str:
    """Set JMeter up in a folder, run it there for two minutes at most, and return what it printed."""
    jars = install_maven_packages(
        folder,
        *(f"org.apache.jmeter:ApacheJMeter_{part}:{_VERSION}" for part in _PARTS),
        f"org.apache.jmeter:ApacheJMeter_config:{_VERSION}",
    )
    home = folder / "jmeter"
    (home / "lib" / "ext").mkdir(parents=True)
    for jar in jars.glob("*.jar"):
        plugin = jar.name.startswith(tuple(f"ApacheJMeter_{part}" for part in _PARTS))
        shutil.copy(jar, home / "lib" / "ext" if plugin else home / "lib")
    with zipfile.ZipFile(jars / f"ApacheJMeter_config-{_VERSION}.jar") as archive:
        archive.extractall(home, [name for name in archive.namelist() if name.startswith("bin/")])
    shutil.copy(jars / f"ApacheJMeter-{_VERSION}.jar", home / "bin" / "ApacheJMeter.jar")
    java = ["java", "-Djava.awt.headless=true", "-jar", home / "bin" / "ApacheJMeter.jar"]
    return output_of(["timeout", "120", *java, *arguments], folder)
