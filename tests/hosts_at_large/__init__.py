"""Hosts as they are recorded at large, each well or with one illness, and the verdict on it.

Written from the tables of limits and from what real logs look like, not from the packs: what a host suffers from is
stated as values that its document calls bad, in each way of recording it that Windows or sysstat has.
"""
