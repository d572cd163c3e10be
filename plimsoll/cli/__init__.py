"""The command line: what a person may type, and what each command does."""
