"""The custom gradient on each backend."""
