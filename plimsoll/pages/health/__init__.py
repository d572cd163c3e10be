"""The health page, which is the start page: whether all hosts are healthy, and a table of hosts by signals."""
