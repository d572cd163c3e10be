"""The commands. A module is only imported when its command is called, so that all commands start fast."""
