"""Learned functions as formulas, in text, LaTeX and Python."""
