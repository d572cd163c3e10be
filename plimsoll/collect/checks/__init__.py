"""Checks that users configure: whether services, processes, addresses and certificates work.

A check has the measurement and fields of the Telegraf plugin for its kind, with its name in the tag `check`.
"""
