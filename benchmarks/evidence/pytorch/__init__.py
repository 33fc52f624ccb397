"""The studies that train networks of PyTorch, and what they share."""
