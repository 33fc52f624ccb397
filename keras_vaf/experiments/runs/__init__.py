"""Train single cells, each with one protocol, one seed and one fold."""
