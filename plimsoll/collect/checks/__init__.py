"""Checks that users configure: whether services, processes, addresses and certificates are well.

A check has the measurement and fields of Telegraf's plugin for its kind, with its name in the tag `check`.
"""
