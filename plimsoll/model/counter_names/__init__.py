"""The names of Windows counters: in other languages, and those that no signal knows."""
