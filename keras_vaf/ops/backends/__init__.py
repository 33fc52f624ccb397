"""The custom gradient in the terms of each backend."""
