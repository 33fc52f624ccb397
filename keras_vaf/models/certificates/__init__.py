"""Lipschitz certificates: bounds on how much the output of a model can change."""
