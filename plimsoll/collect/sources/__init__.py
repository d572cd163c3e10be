"""The sources of the collector's readings, a module for each group of measurements."""
