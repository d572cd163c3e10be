"""PDH logs that a spreadsheet or script saved again."""
