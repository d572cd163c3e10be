"""Verdict cases as data: recordings for which the right answer is known, with the reason."""
