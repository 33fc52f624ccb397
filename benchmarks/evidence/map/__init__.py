"""Two tasks of the map again, with native kernels, for the questions M1 to M3."""
