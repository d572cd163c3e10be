"""What dashboards and alert rules refer to: the data source, the folder, and the rules' pages."""

DATASOURCE_UID = "plimsoll-influxql"
FOLDER = "Plimsoll"
ORG_ID = 1
# Grafana serves the files in its public/ folder; docs/rules is mounted there.
DOCS = "/public/plimsoll/"


def rule_page(rule: str, docs: str = DOCS) -> str:
    """Return the URL of a rule's page."""
    return f"{docs.rstrip('/')}/rules/{rule}.md"
