"""What limits a run: each resource of each host, how near it was to its capacity, and what follows."""
