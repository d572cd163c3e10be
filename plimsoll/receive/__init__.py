"""Takes line protocol from agents and metrics of exporters, and writes them to the store."""
