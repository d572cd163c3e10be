"""The command line of Plimsoll: its commands, their options, and their output."""
