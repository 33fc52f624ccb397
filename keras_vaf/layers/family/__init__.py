"""The trainable activations that a VAF is compared with, one per module."""
