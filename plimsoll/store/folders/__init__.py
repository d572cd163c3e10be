"""Runs as folders of Parquet files, which computers may share."""
