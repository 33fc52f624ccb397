"""Costs of VAFs, and trainings of registered comparisons: see README.md."""
