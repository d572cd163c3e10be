"""Examples of each command, which its --help ends with."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": ("plimsoll demo", "plimsoll demo --no-serve --out simulated"),
    "show": ("plimsoll show perfmon.blg", "plimsoll show logs/ --json contents.json"),
    "convert": (
        "plimsoll convert perfmon.blg --as parquet --out perfmon.parquet",
        "plimsoll convert perfmon.blg --as csv --out short.csv --counter 'Processor(*)\\*' --last 15m",
    ),
    "review": (
        "plimsoll review perfmon.blg",
        "plimsoll review logs/ --out report.html",
        "plimsoll review logs/ --steady 10:22/12:00 --fail-on warning",
        "plimsoll review live:WEB01 --last 2h",
    ),
    "compare": (
        "plimsoll compare before/ after/",
        "plimsoll compare run:nightly-41 run:nightly-42 --fail-on regression",
    ),
    "capacity": (
        "plimsoll capacity logs/ --out capacity.html",
        "plimsoll capacity WEB01.csv DB01.csv results.jtl --objective response_p95=500ms",
        "plimsoll capacity logs/ --profile shoppers.yaml --users 4000 --peak-factor 2",
        "plimsoll capacity logs/ --users 4000 --growth 3%/month --what-if SQL01.processors=8 --without WEB02",
        "plimsoll capacity --profile dynamic-directory",
    ),
    "ingest": ("plimsoll ingest logs/ --run nightly-42 --label build=1042",),
    "up": ("plimsoll up", "plimsoll up --demo", "plimsoll up --listen 0.0.0.0:7070"),
    "backup": ("plimsoll backup plimsoll-monday.duckdb",),
    "users add": (
        "plimsoll users add anna --role operator",
        "plimsoll users add zoe@example.org --role viewer --no-password",
    ),
    "users list": ("plimsoll users list",),
    "users remove": ("plimsoll users remove anna",),
    "users passwd": ("plimsoll users passwd anna", "plimsoll users passwd anna --generate"),
    "users role": ("plimsoll users role anna admin",),
    "users end-password": ("plimsoll users end-password",),
    "users log": ("plimsoll users log --last 2d", "plimsoll users log --who anna"),
    "runs list": ("plimsoll runs list", "plimsoll runs list --json -"),
    "runs show": ("plimsoll runs show nightly-42",),
    "runs judge": ("plimsoll runs judge nightly-42 --fail-on regression",),
    "runs trend": ("plimsoll runs trend --like test=nightly", "plimsoll runs trend --like test=nightly --markdown -"),
    "runs delete": ("plimsoll runs delete nightly-42",),
    "rules list": ("plimsoll rules list", "plimsoll rules list --only windows"),
    "rules check": ("plimsoll rules check mine.yaml",),
    "rules explain": ("plimsoll rules explain cpu-busy",),
    "rules new": ("plimsoll rules new mine.yaml",),
    "rules test": ("plimsoll rules test mine.yaml", "plimsoll rules test"),
    "rules counters": (
        "plimsoll rules counters --out counters.txt",
        "plimsoll rules counters --only sql-server-today --instance PAYROLL --as logman --out sql.xml",
    ),
    "grafana export": (
        "plimsoll grafana export --out grafana",
        "plimsoll grafana export --config plimsoll.toml --email ops@shop.example",
    ),
    "prometheus export": (
        "plimsoll prometheus export",
        "plimsoll prometheus export --only linux --interval 15s --out plimsoll-rules",
    ),
    "prometheus check": ("plimsoll prometheus check", "plimsoll prometheus check plimsoll-rules"),
    "reload": ("plimsoll reload",),
    "alerts list": ("plimsoll alerts list", "plimsoll alerts list --history --last 1d"),
    "alerts show": ("plimsoll alerts show 17",),
    "alerts silence": ("plimsoll alerts silence 'windows-cpu-*' --for 2h --host 'web*' --reason 'load test'",),
    "alerts unsilence": ("plimsoll alerts unsilence 3",),
    "alerts ack": ("plimsoll alerts ack 17 --note 'new disk is ordered'",),
    "alerts note": ("plimsoll alerts note 'deployed 4.2' --host WEB1", "plimsoll alerts note"),
    "alerts retire": ("plimsoll alerts retire WEB07",),
    "alerts test": ("plimsoll alerts test",),
    "alerts replay": ("plimsoll alerts replay", "plimsoll alerts replay --last 2h"),
    "service install": ("plimsoll service install -- --listen 0.0.0.0:8087", "plimsoll service install --dry-run"),
    "service systemd": ("plimsoll service systemd",),
    "service launchd": ("plimsoll service launchd",),
}


def examples_of(command: str) -> str | None:
    """The end of the help of a command, whose lines are kept as they are; None without examples."""
    lines = EXAMPLES.get(command, ())
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)]) if lines else None
