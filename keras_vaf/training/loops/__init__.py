"""Training loops, one per backend, with a common interface."""
