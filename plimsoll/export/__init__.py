"""Files for other systems, made from the rules and dashboards."""
