"""Train single cells: one protocol, one seed, one fold."""
