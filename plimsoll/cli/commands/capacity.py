"""`plimsoll capacity`."""

import json as json_module
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import typer

from plimsoll.api.inputs import RUN, Inputs
from plimsoll.api.review import ReviewSettings, review_inputs
from plimsoll.cli import args
from plimsoll.cli.console import find_width, print_remarks
from plimsoll.cli.long_work import show_progress
from plimsoll.cli.outputs import Outputs
from plimsoll.hosts.objective import parse_time_limits
from plimsoll.insights.capacity.document import build_blocks, build_page
from plimsoll.insights.capacity.find import compute_capacity as find_capacity
from plimsoll.insights.capacity.forecast import Growth, forecast_growth, needs_of
from plimsoll.insights.capacity.json import build_document, encode_growth, needs_json
from plimsoll.insights.capacity.profiles.documented import build_profile_blocks, compute_documented, encode_profile
from plimsoll.insights.capacity.profiles.profile import load_profile
from plimsoll.insights.capacity.what_if import Changes, parse_change
from plimsoll.insights.capacity.words import describe_growth, needs_sentences
from plimsoll.model.errors import Unusable
from plimsoll.report.render.terminal import render_lines

app = args.make_command_app()


@app.command(
    "capacity",
    epilog=args.format_examples(
        "plimsoll capacity logs/ --out capacity.html",
        "plimsoll capacity WEB01.csv DB01.csv results.jtl --objective response_p95=500ms",
        "plimsoll capacity logs/ --profile shoppers.yaml --users 4000 --peak-factor 2",
        "plimsoll capacity logs/ --users 4000 --growth 3%/month --what-if SQL01.processors=8 --without WEB02",
        "plimsoll capacity --profile dynamic-directory",
    ),
)
def capacity(
    logs: list[str] | None = typer.Argument(
        None,
        help="Logs of a run; each folder and each run:NAME is a run. None are needed for a profile with costs.",
        metavar="RUN...",
    ),
    profile: str | None = typer.Option(
        None,
        "--profile",
        help="What users do: a .yaml file, or a shipped one such as membership-directory.",
        callback=args.refuse_empty,
    ),
    users: float | None = typer.Option(
        None, "--users", min=1, help="Say what this number of users needs. Default: the users of the profile."
    ),
    peak_factor: float = typer.Option(
        1, "--peak-factor", min=1, help="The number of users at the peak, as a multiple of the usual number."
    ),
    objective: list[str] | None = typer.Option(
        None, "--objective", metavar="NAME=TIME", help="The longest response time: response_p95=500ms. Repeat for more."
    ),
    pack: args.PackOption = None,
    only: args.OnlyOption = None,
    growth: str | None = typer.Option(
        None,
        "--growth",
        metavar="RATE",
        help="Say when the growing number of --users reaches the limit: 3%/month, 200/week.",
    ),
    what_if: list[str] | None = typer.Option(
        None, "--what-if", metavar="HOST.processors=N", help="Assume other processors; repeat for more."
    ),
    without: list[str] | None = typer.Option(
        None,
        "--without",
        metavar="HOST",
        help="Assume that this host is gone and similar hosts do its work; repeat for more.",
    ),
    from_: args.FromOption = None,
    to: args.ToOption = None,
    last: args.LastOption = None,
    host: args.HostOption = None,
    match: args.MatchOption = None,
    zone: args.ZoneOption = None,
    config: Path | None = args.path_option(
        None, "--config", "Host facts, objective, changed limits. Default: plimsoll.toml beside the logs."
    ),
    out: Path | None = args.path_option(None, "--out", "Write a report with curves as one HTML file."),
    json: args.JsonOption = None,
    format_: args.FormatOption = None,
    encoding: args.EncodingOption = None,
    names: args.NamesOption = None,
    store: args.StoreOption = None,
) -> None:
    """Say how much load a system can carry, and what runs out first.

    It needs a run whose load rises, or several runs; each folder and each run:NAME is a run. A profile says what users
    do. The profiles of studies include costs, and need no run.
    """
    inputs = args.parse_inputs(logs or (), zone, format_, encoding, names, store, (from_, to, last), (host, match))
    outputs = Outputs(out, json)
    if not inputs.sources:
        if objective or growth or what_if or without:
            raise Unusable("--objective, --growth, --what-if and --without need the logs of a run")
        _write_profile(profile, users, peak_factor, outputs)
        return
    loaded_profile = load_profile(profile)[0] if profile else None
    try:
        objectives = parse_time_limits(objective or ())
    except ValueError as error:
        raise Unusable(f"--objective: {error}") from None
    growth_rate = Growth.parse(growth) if growth else None
    changes = Changes(dict(parse_change(change) for change in what_if or ()), without or ())
    options = ReviewSettings(tuple(pack or ()), tuple(only or ()), None, config)
    with show_progress("Reviewing", inputs) as counted:
        reviews = [review_inputs(run, options) for run in split_runs(counted)]
    for review in reviews:
        outputs.refuse_overwriting(review.logs, *inputs.names)
    result = find_capacity(reviews, loaded_profile, objectives, changes)
    json_document = build_document(result)
    forecasts: tuple[str, ...] = ()
    users_today = users or (loaded_profile.users if loaded_profile else None)
    if users_today is not None:
        needs = needs_of(result, users_today, peak_factor)
        json_document["asked"] = needs_json(result, needs)
        forecasts = tuple(needs_sentences(result, needs))
    if growth_rate is not None:
        if users_today is None:
            raise Unusable("--growth needs the users of today: --users")
        ahead = forecast_growth(result, growth_rate, users_today * peak_factor, datetime.now().astimezone().date())
        json_document["growth"] = encode_growth(ahead)
        forecasts = describe_growth(ahead), *forecasts

    def report_text() -> str:
        from plimsoll.report.render.html import render_page  # only the HTML report needs jinja2

        return render_page(build_page(result, reviews, forecasts))

    outputs.write(
        report=report_text,
        json=lambda: json_module.dumps(json_document, ensure_ascii=False, indent=2),
        lines=lambda: render_lines(build_blocks(result, forecasts), find_width()),
    )
    for review in reviews:
        print_remarks(review.remarks)


def _write_profile(profile: str | None, users: float | None, peak_factor: float, outputs: Outputs) -> None:
    """Write the forecast for a profile whose costs are documented, without a run. Raise Unusable without a profile."""
    if outputs.report is not None:
        raise Unusable("--out needs the logs of a run")
    if profile is None:
        raise Unusable("name the logs of a run, or a profile with costs: --profile")
    loaded, variant = load_profile(profile)
    if not loaded.costs:
        raise Unusable(f"{profile}: has no costs: name the logs of a run, too")
    users = users or loaded.users
    result = compute_documented(loaded, variant, users * peak_factor if users else None)
    outputs.write(
        json=lambda: json_module.dumps(encode_profile(result), ensure_ascii=False, indent=2),
        lines=lambda: render_lines(build_profile_blocks(result), find_width()),
    )


def split_runs(inputs: Inputs) -> Sequence[Inputs]:
    """Return the inputs of each run.

    If all sources are folders, stored runs or servers, each source is a run; else all sources together are one run.
    """
    servers = inputs.servers
    runs = [s for s in inputs.sources if s in servers or s.startswith(RUN) or Path(s).is_dir()]
    if len(runs) < max(2, len(inputs.sources)):
        return (inputs,)
    return [replace(inputs, sources=(source,)) for source in runs]
