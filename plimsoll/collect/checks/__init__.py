"""Checks that users configure, of services, processes, addresses and certificates.

A check has the measurement and fields of the Telegraf plugin for its kind, and the check's name in the tag `check`.
"""
