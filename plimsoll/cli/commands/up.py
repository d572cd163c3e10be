"""`plimsoll up`."""

import os
import signal
import socket
import sys
import tempfile
import time
import webbrowser
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from starlette.routing import BaseRoute

from plimsoll.alerting.rule_targets import Site
from plimsoll.api import data_folder
from plimsoll.api.open_store import open_influx_store, open_victoria_store
from plimsoll.api.store_address import store_address
from plimsoll.cli import args
from plimsoll.cli.console import print_line, print_notice
from plimsoll.collect.collector import Collector
from plimsoll.hosts import overlay
from plimsoll.hosts import settings as host_settings
from plimsoll.hosts.facts import ConfiguredFacts
from plimsoll.model.errors import Unusable
from plimsoll.model.lazy_imports import import_later
from plimsoll.model.points import Points
from plimsoll.model.remark import format_count
from plimsoll.rules.load import Catalogue, load
from plimsoll.serve import credentials
from plimsoll.serve.credentials import CredentialUse
from plimsoll.serve.listen import Listen, PublicAddress
from plimsoll.serve.serving import Certificate
from plimsoll.store.duck.duck_store import open_embedded
from plimsoll.store.folders.runs import RunFolders, find_folder_of_runs, make_store_of_runs
from plimsoll.store.store import Store
from plimsoll.store.victoriametrics.address import TOKEN, VictoriaMetricsAddress, is_victoriametrics
from plimsoll.up import log_lines
from plimsoll.up import settings as up_settings
from plimsoll.up.running import OnlyOne
from plimsoll.up.service import control_events
from plimsoll.up.settings import StoreSettings, UpSettings
from plimsoll.up.up import Setup, Source, Up
from plimsoll.up.watched import Watched

if TYPE_CHECKING:
    from plimsoll.demo import live_host
    from plimsoll.demo import runs as demo_runs
    from plimsoll.pages import application
else:  # not imported until somebody visits, or for a demo
    application = import_later("plimsoll.pages.application")
    live_host, demo_runs = map(import_later, ("plimsoll.demo.live_host", "plimsoll.demo.runs"))
_TICK_S = 10.0 if sys.platform == "linux" else 1.0  # elsewhere a signal may not end a wait
_OPEN_FILES = 4096  # more than serve.limits.Limits.connections


@dataclass(frozen=True)
class UpOptions:
    """The options of `plimsoll up`. With `open_page`, a browser is opened on the health page."""

    store: str | None = None
    listen: str | None = None
    config: Path | None = None
    packs: Sequence[str] = ()
    only: Sequence[str] = ()
    certificate: tuple[Path | None, Path | None] = (None, None)
    allowed_hosts: Sequence[str] = ()
    collect: bool = True
    demo: bool = False
    open_page: bool = False
    url: str | None = None
    log: Path | None = None


_USES = {
    CredentialUse.SAMPLES: "what agents write with",
    CredentialUse.READ: "what programs read with",
    CredentialUse.OPERATE: "what programs read with, silence, acknowledge and make notes",
    CredentialUse.CHANGE: "what programs read and change with",
}
app = args.make_command_app()


@app.command(
    "up", epilog=args.format_examples("plimsoll up", "plimsoll up --demo", "plimsoll up --listen 0.0.0.0:7070")
)
def up(
    listen: str | None = typer.Option(
        None,
        "--listen",
        metavar="ADDRESS:PORT",
        help="The address to listen on; by default 127.0.0.1:8087, which only this computer can reach.",
        callback=args.refuse_empty,
    ),
    store: args.UpStoreOption = None,
    settings: Path | None = args.path_option(
        None, "--settings", "A plimsoll.toml: facts of hosts, and changed thresholds."
    ),
    pack: args.PackOption = None,
    only: args.OnlyOption = None,
    cert: Path | None = args.path_option(None, "--cert", "The certificate chain for TLS, in PEM."),
    key: Path | None = args.path_option(None, "--key", "The certificate's key, in PEM."),
    allow_host: list[str] | None = typer.Option(
        None, "--allow-host", help="A name by which clients call this server; repeat for more."
    ),
    url: str | None = typer.Option(
        None,
        "--url",
        metavar="ADDRESS",
        help="The address under which people reach it, for links in messages: https://plimsoll.example.org; by "
        "default the one it listens on.",
        callback=args.refuse_empty,
    ),
    log: Path | None = args.path_option(
        None, "--log", "Write the log to this file, kept below 5 MB, instead of the terminal."
    ),
    no_collect: bool = typer.Option(False, "--no-collect", help="Do not collect this computer's counters."),
    demo: bool = typer.Option(
        False, "--demo", help="Simulate a SQL Server that is in trouble now and then, and two recorded runs."
    ),
    new_token: bool = typer.Option(False, "--new-token", help="Make a new token, show it, and end."),
    token_for: CredentialUse = typer.Option(
        CredentialUse.SAMPLES,
        "--token-for",
        help="What the token is for: agents that write samples; or the HTTP API: to read, to act as an "
        "operator as well, or to change everything.",
    ),
    token_name: str = typer.Option(
        "", "--token-name", help="With --new-token: a token beside the others, of this name."
    ),
    end_token: str = typer.Option("", "--end-token", help="Revoke the token of this name, and end."),
    new_password: bool = typer.Option(
        False, "--new-password", help="Make a new password for reading, show it, and end."
    ),
) -> None:
    """Collect samples, receive those of agents, judge them by the rules, and notify people."""
    if end_token:
        credentials.end_token(data_folder.prepare(data_folder.find_data_folder(store)), end_token, token_for)
        print_line(f"The token {end_token} is not valid any more")
        return
    if new_token or new_password or token_name:
        folder = data_folder.prepare(data_folder.find_data_folder(store))
        if new_token or token_name:
            _show("token", credentials.create_token(folder, token_name, token_for), token_for)
        if new_password:
            _show("password", credentials.create_password(folder))
        return
    run(
        UpOptions(
            store,
            listen,
            settings,
            tuple(pack or ()),
            tuple(only or ()),
            (cert, key),
            tuple(allow_host or ()),
            not no_collect,
            demo,
            url=url,
            log=log,
        )
    )


def run(options: UpOptions) -> None:
    """Run `plimsoll up` until the process is interrupted. Raise Unusable if plimsoll up cannot start."""
    if options.store and find_folder_of_runs(options.store) is not None:
        raise Unusable(
            f"--store {options.store}: is a folder of runs, which keeps no live samples; name a data folder, or a "
            "VictoriaMetrics with store.runs in up.toml"
        )
    if sys.platform != "win32":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        target = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard)
        if soft != resource.RLIM_INFINITY and soft < target:
            resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
    os.umask(0o077)  # for files of libraries as well: DuckDB's write-ahead log, SQLite's journal
    listen = _choose_listen_address(options)
    chain, key = options.certificate
    if (chain is None) != (key is None):
        raise Unusable("--cert and --key go together: name the certificate and its key")
    certificate = Certificate(chain, key) if chain and key else None
    with _open_folder(options) as folder:
        lock = OnlyOne(folder)
        try:
            _run(options, folder, lock, listen, certificate)
        finally:
            lock.release()


def _choose_listen_address(options: UpOptions) -> Listen:
    """Return the address to listen on. Without --listen, a demo takes a free port if the usual port is in use."""
    usual = Listen.parse(options.listen) if options.listen else Listen()
    with socket.socket() as probe:
        is_taken = options.demo and not options.listen and probe.connect_ex((usual.host, usual.port)) == 0
    if usual.port == 0 or is_taken:
        with socket.socket() as any_port:
            any_port.bind(("", 0))
            return replace(usual, port=any_port.getsockname()[1])
    return usual


def _run(options: UpOptions, folder: Path, lock: OnlyOne, listen: Listen, certificate: Certificate | None) -> None:
    """Run `plimsoll up` in a data folder that `lock` protects, until the process is interrupted."""
    configuration = up_settings.load(folder)
    catalogue = load(options.packs, options.only)
    site, configured = _load_host_settings(options.config, folder, catalogue)
    log_lines.set_up(options.log)
    if sys.platform != "win32" and not (sys.stdin and sys.stdin.isatty()):
        signal.signal(signal.SIGHUP, lambda *_: control_events.to_reload.set())
    collector = Collector(signals=catalogue.signals) if options.collect else None
    started = time.time_ns()
    sources = [*([collector.collect] if collector else ()), *([_make_demo_source(started)] if options.demo else ())]
    store = _store(options, folder, configuration.store, catalogue)
    try:
        setup = Setup(
            folder,
            listen,
            sources,
            collector.host if collector else None,
            certificate,
            options.allowed_hosts,
            pages=_list_page_routes,
            url=PublicAddress.parse(options.url) if options.url else None,
            read=lambda: _load_host_settings(options.config, folder, catalogue),
            silent=lambda: collector.silent if collector else {},
        )
        server = Up(setup, lock, store, site, configured)
        try:
            if options.demo:
                demo_runs.load_demo_runs(store)
                server.put(live_host.simulate_points(started, started - live_host.BACK, started))
            server.start()
            _greet(options, server, setup, store, configuration)
            if options.open_page and has_browser(os.environ):
                webbrowser.open(server.address)
            while server.is_running:
                if control_events.to_stop.is_set():
                    return
                if control_events.to_reload.wait(_TICK_S):
                    control_events.to_reload.clear()
                    server.reload()
            raise Unusable("plimsoll up ended by itself; its log says why")
        finally:
            server.stop()
    finally:
        store.close()


def _list_page_routes(watched: Watched) -> Sequence[BaseRoute]:
    return application.list_routes(watched)


def _load_host_settings(config: Path | None, folder: Path, catalogue: Catalogue) -> tuple[Site, ConfiguredFacts]:
    """Return the rules with the settings of hosts, and the configured facts of hosts.

    Both are read from plimsoll.toml (`config`) and from the changes on pages (`folder`). Raise Unusable if invalid.
    """
    settings = host_settings.load(config) if config else host_settings.Settings()
    overrides = overlay.load_with_overlay(settings, config, folder, catalogue)
    judge = {"judge": settings.run.judge} if settings.run.judge else {}
    return Site(catalogue, overrides, settings.drives(), settings.labels(), **judge), settings.facts()


def _store(options: UpOptions, folder: Path, keeping: StoreSettings, catalogue: Catalogue) -> Store:
    """Open the store for live samples and runs; the options or up.toml name it, else it is in the data folder."""
    named = options.store if data_folder.is_address(options.store) else keeping.address
    if named and is_victoriametrics(named):
        address_of_live = VictoriaMetricsAddress.parse(named, os.environ.get(TOKEN, ""))
        # An absolute path is unchanged.
        runs = keeping.runs and RunFolders.open(folder / keeping.runs, make=True)
        beside = make_store_of_runs(runs) if runs else _open_embedded_store(folder, keeping)
        return open_victoria_store(address_of_live, beside, lambda: catalogue.signals)
    if keeping.runs:
        raise Unusable(
            f"{folder / up_settings.FILE_NAME}: store.runs is for samples in a VictoriaMetrics; name one in "
            "store.address, or leave it out"
        )
    if named:
        address = store_address(named, os.environ)
        if address is None:
            raise Unusable(f"{named}: is not the address of a store")
        return open_influx_store(address, print_notice)
    return _open_embedded_store(folder, keeping)


def _open_embedded_store(folder: Path, keeping: StoreSettings) -> Store:
    return open_embedded(folder, raw_days=keeping.raw_days, days=keeping.days, size_limit=keeping.size)


def _make_demo_source(started: int) -> Source:
    last = started

    def points(now: int) -> Points:
        nonlocal last
        demo_points = live_host.simulate_points(started, last, now)
        last = now
        return demo_points

    return points


@contextmanager
def _open_folder(options: UpOptions) -> Generator[Path]:
    """Yield the data folder; for a demo without a named folder, a new folder that is deleted afterwards."""
    if options.demo and (options.store is None or data_folder.is_address(options.store)):
        with tempfile.TemporaryDirectory(prefix="plimsoll-demo-", ignore_cleanup_errors=True) as name:
            yield Path(name)
    else:
        yield data_folder.prepare(data_folder.find_data_folder(options.store))


def _greet(options: UpOptions, server: Up, setup: Setup, store: Store, configuration: UpSettings) -> None:
    """Print the server's address, the store, what is collected, who is notified, and new tokens and passwords."""
    folder, host = setup.folder, setup.host
    targets = ", ".join(configuration.notify) or f"nobody; docs/alerts.md explains {folder / up_settings.FILE_NAME}"
    print_line("Plimsoll is up: ", (server.address, "bold"))
    for label, text in (
        ("store", store.name),
        ("collects", f"this computer, {host}, every 10 s" if host else "nothing itself"),
        *((("scrapes", format_count(len(configuration.targets), "exporter")),) if configuration.targets else ()),
        *(((("simulates", f"{live_host.HOST}, a SQL Server, and two recorded runs"),)) if options.demo else ()),
        ("notifies", targets),
        ("alerts", f"plimsoll alerts list --store {folder}"),
    ):
        print_line(f"  {label:<9} {text}", indent=12)
    if not setup.listen.is_loopback or configuration.login == "always":
        new = credentials.make_missing(folder)
        if new and not sys.stdout.isatty():
            # A service's output goes to a journal that others may read.
            kept = credentials.keep_new(folder, new)
            print_line(f"  {' and '.join(new)}: in {kept}, which only its owner can read; delete it when you know them")
        else:
            for name, secret in new.items():
                _show(name, secret)
        if options.certificate[0] is None and not setup.listen.is_loopback:
            print_notice("tokens, passwords and samples cross the network in clear text: give --cert and --key")
    print_line("Ctrl-C ends it.")


def _show(name: str, secret: str, use: CredentialUse = CredentialUse.SAMPLES) -> None:
    text = _USES[use] if name == "token" else "what everybody logs in with"
    again = f"--new-{name}" if use is CredentialUse.SAMPLES else f"--new-{name} --token-for {use}"
    print_line(f"  {name:<9} {secret}", indent=12)
    print_line(f"            {text}; it is shown only now: plimsoll up {again} makes another", indent=12)


def has_browser(environment: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Return whether a browser can be opened on this machine, as the session is not over SSH and has a display."""
    if "SSH_CONNECTION" in environment:
        return False
    return platform in ("win32", "darwin") or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
