"""The formats that are read, one folder each."""
