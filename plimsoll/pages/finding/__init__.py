"""The search field of every page: finds hosts, signals, runs and rules by name."""
