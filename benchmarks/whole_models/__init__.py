"""Whole models converted, trained and frozen: `python -m benchmarks.whole_models`."""
