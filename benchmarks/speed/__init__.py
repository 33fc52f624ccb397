"""Cost of a VAF relative to the fixed function: `python -m benchmarks.speed`."""
