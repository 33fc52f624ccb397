"""What a given model contains: its activations, and what each one does there."""
