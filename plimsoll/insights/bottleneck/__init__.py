"""The bottleneck of a run, found from how near each resource of each host was to its capacity."""
