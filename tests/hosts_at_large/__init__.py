"""Hosts as they are commonly recorded, each healthy or with one illness, and the right verdict.

They are written from the tables of limits and from the look of real logs, not from the packs: an illness is a value
that
its document calls bad, in each way that Windows or sysstat records it.
"""
