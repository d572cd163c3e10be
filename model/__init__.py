"""What everything in Plimsoll speaks of: series and their names, logs, runs, host facts."""
