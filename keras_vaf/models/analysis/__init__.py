"""Find the activations of a given model and their tasks in it."""
