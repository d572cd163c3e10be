"""What each command does: a module per command, imported only when it is called, which keeps start-up fast."""
