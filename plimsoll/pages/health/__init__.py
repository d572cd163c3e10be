"""The health page, which is the start page: whether all hosts are well, and a table of hosts by signals."""
