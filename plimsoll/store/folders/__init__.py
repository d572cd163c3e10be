"""Runs as folders of Parquet files, which several computers may share."""
