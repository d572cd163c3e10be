"""The formats of logs: a folder for each, and the registry of all."""
