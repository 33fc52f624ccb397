"""Fits of known functions by hidden units, and the slopes of functions far from 0."""
