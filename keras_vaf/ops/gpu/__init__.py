"""Kernels for GPUs: in Triton for PyTorch, and through Pallas for JAX."""
