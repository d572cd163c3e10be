"""The data model: series and their names, samples, logs and runs; times and errors."""
