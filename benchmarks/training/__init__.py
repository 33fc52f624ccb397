"""Training many networks together: `python -m benchmarks.training`."""
