"""Conversion of any `torch.nn.Module`, on the PyTorch backend."""
