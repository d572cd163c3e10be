"""How much load a system can carry: what operations demand of its resources, and which runs out first."""
