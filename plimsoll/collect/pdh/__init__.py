"""Windows' performance counters, read as Performance Monitor reads them: through pdh.dll."""
