"""How much load a system can carry, as one HTML file."""
