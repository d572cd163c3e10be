"""The first page: whether all is well, and the hosts by signals."""
