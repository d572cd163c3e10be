"""The bottleneck of a run: the resource that was nearest to its capacity when the work stopped growing."""
