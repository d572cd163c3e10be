"""The load of a run, the phases that the load shows, and losses of throughput."""
