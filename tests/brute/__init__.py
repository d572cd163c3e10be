"""A second evaluator of reviews, written from docs/evaluation.md alone, to be compared with the program.

It reads a folder of logs, the packs and the signals as data, and says of every rule, host and instance what a review
must say: outcome, worst value, breaches, brief crossings, share of time, and the verdict of the whole. It is slow and
plain on purpose: lists, loops and exact sums, no arrays, nothing computed incrementally, so that it can be checked
against the document by reading it.

It must never import `rules` or `review`, nor anything else of the program: what it had in common with the program
could be wrong in both. test_agreement.py asserts this of its sources; only tests run the program. Do not correct it by
reading the program, but by docs/evaluation.md; where that leaves a question open, answer it there first.

The modules, in the order in which one is made of another:

- recording.py: what a log holds; pdh.py and sadf.py read two formats, folder.py all logs of a folder
- catalogue.py: the signals and the packs, as plain data with durations and limits parsed
- settings.py: plimsoll.toml, and how it changes a rule for a host
- signals.py: which columns a signal of a host is taken from
- windows.py: the value of a signal at one evaluation
- judging.py: one rule for one subject, from truth to states, crossings and the outcome
- review.py: all rules for all hosts, and the verdict
- generated.py: logs made from seeds; extra.yaml: rules that no shipped pack has

Left out, as no generated log needs it: languages other than English, damaged logs, changes of the clock, logs whose
interval changes within the log, and Telegraf's measurements but for those that sysstat shares.
"""
