"""Reads samples that another program recorded into its own server, under that server's names."""
