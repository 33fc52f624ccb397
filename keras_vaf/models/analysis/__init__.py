"""Analysis of models: outputs that activations shape, and the nearest functions."""
