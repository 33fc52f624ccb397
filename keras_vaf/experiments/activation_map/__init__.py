"""The map: on which tasks a trainable activation is worth its cost."""
