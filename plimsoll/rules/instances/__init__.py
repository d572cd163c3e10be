"""Instances that different objects of Windows name differently."""
