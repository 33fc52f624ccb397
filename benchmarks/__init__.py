"""Speed and memory of a VAF, side by side with what it replaces.

`python -m benchmarks` runs it; README.md says what is measured and how.
"""
