"""Each host at large has the verdict that its illness, or its health, deserves, and a diagnosis that agrees with it."""

import pytest

from tests.insights.diagnosis import contradictions

from .linux import hosts
from .run import reviewed
from .server_roles import server_roles
from .shapes import shapes
from .windows import instances, resources

GROUPS = {"resources": resources, "instances": instances, "shapes": shapes, "linux": hosts}


@pytest.mark.parametrize("group", GROUPS)
def test_hosts_are_judged_as_they_are(tmp_path, group):
    wrong = []
    for number, host in enumerate(GROUPS[group]()):
        result = reviewed(host, tmp_path / str(number))
        if result["verdict"] != host.verdict or host.needs not in result["headline"]:
            wrong.append(f"{host.name}: {result['verdict']}: {result['headline']}")
        wrong += [f"{host.name}: {contradiction}" for contradiction in contradictions(result)]
    assert wrong == []


def test_a_server_role_is_found_ill_by_its_own_rules_and_has_nothing_above_a_note_while_it_is_well(tmp_path):
    wrong = []
    for number, (host, rules) in enumerate(server_roles()):
        result = reviewed(host, tmp_path / str(number))
        crossed = {item["rule"]: item["severity"] for item in result["rules"] if "crossed" in item["state"]}
        above_notes = [rule for rule, severity in crossed.items() if severity != "info"]
        if result["verdict"] != host.verdict or rules - set(crossed) or (not rules and above_notes):
            wrong.append(f"{host.name}: {result['verdict']}: {result['headline']} not found: {rules - set(crossed)}")
    assert wrong == []
