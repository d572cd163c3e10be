"""Verdict cases as data: recordings of which it is known what is right to say, and why."""
