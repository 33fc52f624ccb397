"""Read models: their graphs, the inputs of their parts, and what must be kept."""
