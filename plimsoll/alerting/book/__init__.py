"""The alert book: alerts, silences and acknowledgements, kept in alerts.db."""
