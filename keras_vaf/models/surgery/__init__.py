"""Replace activations inside a model, and report the replacements."""
