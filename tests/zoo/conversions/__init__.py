"""Models that others wrote, converted: `python -m tests.zoo.conversions`."""
