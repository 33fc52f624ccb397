"""Record the trials of a KerasTuner search, and continue the search from them."""
