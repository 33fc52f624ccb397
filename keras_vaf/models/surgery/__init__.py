"""Replace activations inside a model, and describe what was replaced."""
