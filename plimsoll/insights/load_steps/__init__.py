"""Load steps: the plateaus of the load, and what each cost."""
