"""Analysis of models: activations that shape outputs, and the nearest functions."""
