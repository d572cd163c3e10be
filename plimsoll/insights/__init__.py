"""Insights: what the signals of a run show beyond its limits, such as load steps, spikes, trends and the bottleneck."""
