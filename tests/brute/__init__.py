"""A second evaluator of rules, written from docs/evaluation.md alone, to be compared with the program.

It reads a folder of logs, the packs and the signals as data, and says of a rule and a subject what a review must say:
outcome, worst value, breaches, brief crossings and share of time. It is slow and plain on purpose: lists, loops and
exact sums, no arrays, nothing computed incrementally, so that it can be checked against the document by reading it.

It must never import anything of the program: what it had in common with the program could be wrong in both. Do not
correct it by reading the program, but by docs/evaluation.md; where that leaves a question open, answer it there first.

Left out, as no generated log needs it: other formats, languages other than English, damaged logs, settings, instances
that two objects name differently. Which rules apply, and the verdict of the whole, are not evaluated again here.
"""
