"""The load that a system can carry, from the demands of its operations and the resource that runs out first."""
