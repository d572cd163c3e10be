"""The health page, the start page: the answer whether all hosts are healthy, and a table of hosts by signals."""
