"""Tests of Keras that may fail with VAFs for a known reason, as data.

So far PyTorch with layer sharing was tried.
"""

COUNT = "The test sets the two weights of Dense, and a VAF adds four."
FUSED = "Keras computes a recurrent layer in one call only if its activation is tanh."

# Part of the name of a test, the backend and sharing under which it fails (empty: all),
# and the reason.
DIFFERENCES: list[tuple[str, tuple[str, ...], str]] = [
    ("DenseTest::test_dense_correctness", (), COUNT),
    ("DenseTest::test_dense_with_activation", (), COUNT),
    ("SimpleRNNTest::test_fused_gru_eligibility", (), FUSED),
    ("SimpleRNNTest::test_fused_lstm_eligibility", (), FUSED),
]
