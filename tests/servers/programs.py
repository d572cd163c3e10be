"""The programs that tests.servers.build can build, each from its own Go module, and their paths."""

import hashlib
import platform
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from plimsoll.model.kept import cache_folder

_MODULES = Path(__file__).parent
_BUILT_FROM = (".go", ".mod", ".sum", ".txt")


@dataclass(frozen=True)
class Program:
    """A program, and how Go builds it.

    `version_of` is the module in go.mod that has the program's version, `version_in` the Go variable that is set to
    it. `system` is the target system if it is not this one.
    """

    title: str
    file: str
    module: str
    package: str
    version_of: str
    version_in: str = ""
    tags: tuple[str, ...] = ()
    system: str = ""
    cgo: bool = False
    rust: bool = False

    @property
    def folder(self) -> Path:
        """The folder of its module."""
        return _MODULES / self.module

    @property
    def version(self) -> str:
        """The version in go.mod: 1.37.2."""
        required = re.search(rf"{re.escape(self.version_of)} v(\S+)", (self.folder / "go.mod").read_text("utf-8"))
        assert required, f"{self.folder / 'go.mod'} does not require {self.version_of}"
        return required[1]

    @property
    def arguments(self) -> list[str]:
        """The arguments of `go build`, without the output path."""
        tags = [*self.tags, *self._plugins()]
        version = f" -X {self.version_in}{self.version}" if self.version_in else ""
        return ["-mod=readonly", "-trimpath", f"-tags={','.join(tags)}", f"-ldflags=-s -w{version}", self.package]

    @property
    def path(self) -> Path:
        """The path of the built program. It contains a hash of all inputs of the build."""
        inputs = hashlib.sha256("\n".join(self.arguments).encode())
        for file in sorted(file for file in self.folder.iterdir() if file.suffix in _BUILT_FROM):
            inputs.update(f"\n{file.name}\n".encode() + file.read_bytes())
        kind = f"{self.system or sys.platform}-{platform.machine().lower()}"
        name = f"{Path(self.file).stem}-{self.version}-{kind}-{inputs.hexdigest()[:12]}"
        suffix = ".exe" if self.system == "windows" or (not self.system and sys.platform == "win32") else ""
        return cache_folder() / "native" / name / (self.file + suffix)

    @property
    def built(self) -> bool:
        """Whether it has been built."""
        return self.path.is_file()

    def _plugins(self) -> list[str]:
        listed = self.folder / "plugins.txt"
        if not listed.is_file():
            return []
        return ["custom", *(line for line in listed.read_text("utf-8").split("\n") if line and line[0] != "#")]


_TELEGRAF_MODULE = "github.com/influxdata/telegraf"
_INFLUXDB_MODULE = "github.com/influxdata/influxdb/v2"
_PKG_CONFIG_MODULE = "github.com/influxdata/pkg-config"
_INFLUXQL_MODULE = "github.com/influxdata/influxql"
_VICTORIAMETRICS_MODULE = "github.com/VictoriaMetrics/VictoriaMetrics"
_PROMETHEUS_MODULE = "github.com/prometheus/prometheus"
_OTELCOL_MODULE = "go.opentelemetry.io/collector/otelcol"

TELEGRAF = Program(
    title="Telegraf",
    file="telegraf",
    module="telegraf",
    package=f"{_TELEGRAF_MODULE}/cmd/telegraf",
    version_of=_TELEGRAF_MODULE,
    version_in=f"{_TELEGRAF_MODULE}/internal.Version=",
)
TELEGRAF_WINDOWS = replace(TELEGRAF, title="Telegraf for Windows", system="windows")
INFLUXDB = Program(
    title="InfluxDB",
    file="influxd",
    module="influxd",
    package=f"{_INFLUXDB_MODULE}/cmd/influxd",
    version_of=_INFLUXDB_MODULE,
    version_in="main.version=v",
    # The tags of InfluxDB's own build, without the web pages.
    tags=("sqlite_foreign_keys", "sqlite_json"),
    cgo=True,
    rust=True,
)
# Go calls it for libflux, the Rust part of InfluxDB, which it builds with cargo.
PKG_CONFIG = Program(
    title="InfluxDB's pkg-config",
    file="pkg-config",
    module="influxd",
    package=_PKG_CONFIG_MODULE,
    version_of=_PKG_CONFIG_MODULE,
)
INFLUXQL = Program(
    title="the InfluxQL parser", file="influxql", module="influxql", package=".", version_of=_INFLUXQL_MODULE
)


def _of_victoriametrics(title: str, file: str) -> Program:
    return Program(
        title=title,
        file=file,
        module="victoriametrics",
        package=f"{_VICTORIAMETRICS_MODULE}/app/{file}",
        version_of=_VICTORIAMETRICS_MODULE,
        version_in=f"{_VICTORIAMETRICS_MODULE}/lib/buildinfo.Version={file}-v",
    )


VICTORIA_METRICS = _of_victoriametrics("VictoriaMetrics", "victoria-metrics")
VMALERT = _of_victoriametrics("vmalert", "vmalert")
VMALERT_TOOL = _of_victoriametrics("vmalert-tool", "vmalert-tool")
VMAGENT = _of_victoriametrics("vmagent", "vmagent")
VMAUTH = _of_victoriametrics("vmauth", "vmauth")
PROMTOOL = Program(
    title="promtool",
    file="promtool",
    module="promtool",
    package=f"{_PROMETHEUS_MODULE}/cmd/promtool",
    version_of=_PROMETHEUS_MODULE,
    version_in="github.com/prometheus/common/version.Version=",
    # Without the clients of clouds that find targets: they are most of the build, and rules need none.
    tags=("remove_all_sd",),
)
# With hostmetrics, and OTLP over HTTP: what tests need of the OpenTelemetry collector.
OTELCOL = Program(
    title="the OpenTelemetry collector",
    file="otelcol",
    module="otelcol",
    package=".",
    version_of=_OTELCOL_MODULE,
    version_in="main.version=",
)

PROGRAMS = {
    "telegraf": TELEGRAF,
    "telegraf-windows": TELEGRAF_WINDOWS,
    "influxd": INFLUXDB,
    "influxql": INFLUXQL,
    "victoria-metrics": VICTORIA_METRICS,
    "vmalert": VMALERT,
    "vmalert-tool": VMALERT_TOOL,
    "vmagent": VMAGENT,
    "vmauth": VMAUTH,
    "promtool": PROMTOOL,
    "otelcol": OTELCOL,
}
