"""One training loop per backend, behind one interface."""
