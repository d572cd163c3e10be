"""What the signals of one run tell beyond its thresholds: load steps, spikes, trends, and what limits it."""
