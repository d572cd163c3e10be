"""The commands: a module for each, imported only when it is called, which keeps the start fast."""
