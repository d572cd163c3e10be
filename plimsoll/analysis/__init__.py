"""Statistics of plain arrays of samples, without any knowledge of signals, hosts or limits."""
