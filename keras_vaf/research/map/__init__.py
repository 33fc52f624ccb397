"""The map, which shows on which tasks a trainable activation is worth its cost."""
