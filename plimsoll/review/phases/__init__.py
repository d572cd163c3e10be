"""The load of a run, the phases that it shows, and the clock of the load driver."""
