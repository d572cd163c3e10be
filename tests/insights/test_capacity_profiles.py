"""The profiles of the studies give the figures of their documents, and profiles of users those of a run."""

import csv
from pathlib import Path

import pytest

from plimsoll.insights.capacity.find import compute_capacity
from plimsoll.insights.capacity.forecast import needs_of
from plimsoll.insights.capacity.profiles.documented import (
    compute_documented,
    compute_most_users,
    compute_rates,
    find_crossing_users,
)
from plimsoll.insights.capacity.profiles.profile import Profile, load_profile
from plimsoll.insights.capacity.words import answer, list_sentences, needs_sentences
from plimsoll.model.errors import Unusable
from plimsoll.model.file_models import parse_content
from tests.insights.loaded import System, run_of

# Printed and derived figures of the two studies of Site Server; "kind" says which (the documents are in "source").
VECTORS = Path(__file__).parents[1] / "data" / "capacity-vectors.csv"
SHOP = System({"view": (0.7, 0.012, 0.004, 0.003), "buy": (0.3, 0.03, 0.02, 0.01)})


def used(name, users, resource="processor"):
    profile, variant = load_profile(name)
    return next(use for use in compute_documented(profile, variant, users).uses if use.resource == resource)


def share(name, users):
    result = used(name, users).share
    assert result is not None
    return 100 * result


def most(name, resource):
    profile, variant = load_profile(name)
    item = profile.costs[variant].resources[resource]
    assert item.limit
    return compute_most_users(lambda users: item.use(users, compute_rates(profile, users)), item.limit)


def crossed(variant):
    profile, _ = load_profile("dynamic-directory")
    measured = profile.costs[variant].throughput
    assert measured
    return find_crossing_users(measured.at, profile.each_second["search"])[0]


def sample_site(resource="processor"):
    """Dynamic Directory rounds the rates of its sample site to three decimals."""
    profile, variant = load_profile("dynamic-directory")
    rates = {name: round(rate, 3) for name, rate in compute_rates(profile, 1000).items()}
    return profile.costs[variant].resources[resource].use(1000, rates)


DYNAMIC, MEMBERSHIP = "dynamic-directory", "membership-directory"
FIGURES = {
    "V08": sample_site,
    "V09": lambda: sample_site() / 2,
    "V10": lambda: sample_site("network"),
    "V11": lambda: used(DYNAMIC, 1000, "memory").use,
    "V12": lambda: most(DYNAMIC, "processor"),
    "V13": lambda: most(DYNAMIC, "network"),
    "V14": lambda: crossed("one-processor"),
    "V15": lambda: crossed("two-processors"),
    "V16": lambda: compute_rates(load_profile(DYNAMIC)[0], 1268)["search"],
    "V20": lambda: load_profile(MEMBERSHIP)[0].each_second["base_object"],
    "V21": lambda: used(MEMBERSHIP, 25_000).use,
    "V22": lambda: used(f"{MEMBERSHIP}/two-processors", 20_000).use,
    "V23": lambda: used(f"{MEMBERSHIP}/one-processor", 10_000).use,
    "V24": lambda: used(MEMBERSHIP, 8000).use,
    "V25": lambda: share(MEMBERSHIP, 8000),
    "V26": lambda: used(f"{MEMBERSHIP}/two-processors", 8000).use,
    "V27": lambda: share(f"{MEMBERSHIP}/two-processors", 8000),
    "V28": lambda: used(f"{MEMBERSHIP}/one-processor", 8000).use,
    "V29": lambda: share(f"{MEMBERSHIP}/one-processor", 8000),
    "V36": lambda: used(MEMBERSHIP, 8000, "network").use,
}


def vectors():
    with VECTORS.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_the_studies(name):
    row = vectors()[name]
    assert FIGURES[name]() == pytest.approx(float(row["expected"]), abs=float(row["tolerance"]) + 1e-9)


def test_a_documented_profile_ends_where_its_document_does():
    dynamic, site = (compute_documented(*load_profile(name)) for name in (DYNAMIC, MEMBERSHIP))
    assert (dynamic.reached[0].why, dynamic.reached[0].extended) == ("answered", True)
    assert 1500 <= dynamic.reached[0].users <= 1600  # the document: about 1,500
    assert (site.reached[0].name, site.reached[0].users) == ("add", 16_000)


@pytest.fixture(scope="module")
def shop():
    return run_of(SHOP, [40, 100, 160, 220, 300], 90, seed=1)


def test_a_profile_with_another_mix_than_the_run(shop):
    profile = parse_content(Profile, {"title": "Buyers", "session": "5m", "operations": {"view": 15, "buy": 15}})
    result = compute_capacity([shop], profile)
    first = result.reached[0]
    assert result.users
    # Half of each: 0.0065 s of the disk for an operation, of which a user does 0.1 a second.
    assert result.users.at(first.load.value) == pytest.approx(0.9 / 0.0065 / 0.1, rel=0.1)
    assert any("another mix than the run" in sentence for sentence in list_sentences(result))
    needs = needs_of(result, 600)
    assert needs.uses[0].value == pytest.approx(100 * 60 * 0.0065, rel=0.1)
    assert needs.hosts == ()
    far = needs_of(result, 6000)
    assert far.beyond
    assert far.hosts[0].count == 5  # 600 operations a second of 0.0065 s, each disk to 90 %
    assert "not known, as they are beyond" in next(needs_sentences(result, far))


def test_an_objective_is_a_limit_beside_the_resources(shop):
    result = answer(compute_capacity([shop], objectives={"client.response_p95": 0.12}))
    assert "before response time, 95th percentile exceeds 120 ms" in result


def test_what_a_profile_may_not_ask(shop):
    with pytest.raises(Unusable, match='"sell", which was not recorded; recorded were view, buy'):
        compute_capacity(
            [shop], parse_content(Profile, {"title": "Sellers", "session": "5m", "operations": {"sell": 1}})
        )
    with pytest.raises(Unusable, match="is neither a file nor a shipped profile"):
        load_profile("membershp")
