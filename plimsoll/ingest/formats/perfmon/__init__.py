"""Logs as Performance Monitor writes them: PDH-CSV, PDH-TSV, and typeperf's output."""
