"""R1: what a trained network loses if its only activation becomes ReLU."""
