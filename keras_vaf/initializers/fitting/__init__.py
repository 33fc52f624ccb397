"""Fits of known functions by hidden units, and the ends of functions."""
