"""The embedded store: a DuckDB file."""
