"""Tables and figures of the paper's experiments."""
