"""What dashboards and alert rules say of each other and of the world around them: uids, folder, the rules' pages."""

DATASOURCE_UID = "plimsoll-influxql"
FOLDER = "Plimsoll"
ORG_ID = 1
# Grafana serves what lies in its public/ folder; docs/rules is mounted there.
DOCS = "/public/plimsoll/"


def rule_page(rule: str, docs: str = DOCS) -> str:
    """The address of a rule's page."""
    return f"{docs.rstrip('/')}/rules/{rule}.md"
