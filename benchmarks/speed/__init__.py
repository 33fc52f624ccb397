"""Time and memory of an activation: `python -m benchmarks` measures them."""
