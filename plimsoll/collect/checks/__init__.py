"""Checks that people ask for: whether services, processes, addresses and certificates are well.

Each kind gives the measurement and the fields that the plugin of Telegraf for it gives, with the tag `check`: its name.
"""
