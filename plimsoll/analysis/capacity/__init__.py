"""How much load resources can carry: demands by regression, and queueing."""
