"""What a model is: its graph, the inputs of its parts, and what must be kept."""
