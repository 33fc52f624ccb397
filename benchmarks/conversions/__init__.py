"""Models that others wrote, converted: `python -m benchmarks.conversions`."""
