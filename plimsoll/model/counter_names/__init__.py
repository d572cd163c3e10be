"""The names of Windows counters in other languages, and counters that no signal reads."""
