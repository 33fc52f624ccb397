"""Tests of Keras that fail with VAFs for a known reason, as data."""

# Part of the name of a test, the backend and sharing under which it fails (empty: all),
# and the reason.
DIFFERENCES: list[tuple[str, tuple[str, ...], str]] = []
