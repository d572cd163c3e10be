"""Load steps: the levels of a stepped load, and the cost of an operation in each."""
