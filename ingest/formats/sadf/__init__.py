"""sysstat's `sadf -d`."""
