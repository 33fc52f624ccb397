"""Tests of Keras that may fail with VAFs for a known reason, as data.

So far PyTorch with both kinds of sharing was tried.
"""

COUNT = "The test counts weights, and a VAF has four."
FUSED = "Keras computes a recurrent layer in one call only if its activation is tanh."
FUNCTION = "The test compares the activation with the function that it replaces."
MOCK = "The test puts an object other than a layer in the place of a layer."
FIXTURE = "Keras's wheel lacks the file that the test reads."
BUILT = (
    "Keras builds a layer without the layer that is its activation. Parameters that "
    "are shared per channel then appear in the first call, as those of PReLU do."
)

# Part of the name of a test, the backend and sharing under which it fails (empty: all),
# and the reason.
DIFFERENCES: list[tuple[str, tuple[str, ...], str]] = [
    ("DenseTest::test_dense_correctness", (), COUNT),
    ("DenseTest::test_dense_with_activation", (), COUNT),
    ("MultiHeadAttentionTest::test_lora", (), COUNT),
    ("SavingTest::test_scalar_weight", (), COUNT),
    ("SimpleRNNTest::test_fused_gru_eligibility", (), FUSED),
    ("SimpleRNNTest::test_fused_lstm_eligibility", (), FUSED),
    ("SerializationLibTest::test_layer_string_as_activation", (), FUNCTION),
    ("LayerTest::test_functional_model_with_remat", ("torch",), MOCK),
    ("SavingBattleTest::test_legacy_load_skips_missing", (), FIXTURE),
    ("ActivationTest::test_activation_basics", ("channel",), BUILT),
    ("AttentionTest::test_basics", ("channel",), BUILT),
    ("AttentionTest::test_high_dim_attention", ("channel",), BUILT),
    ("Test::test_lora_rank_argument", ("channel",), BUILT),
    ("DenseTest::test_dense_basics", ("channel",), BUILT),
    ("RNNTest::test_basics", ("channel",), BUILT),
    ("ConvLSTM1DTest::test_basics", ("channel",), BUILT),
    ("ConvLSTM2DTest::test_basics", ("channel",), BUILT),
    ("ConvLSTM3DTest::test_basics", ("channel",), BUILT),
    ("GRUTest::test_basics", ("channel",), BUILT),
    ("LSTMTest::test_basics", ("channel",), BUILT),
    ("SavingTest::test_weights_sharding_efficientnet", ("channel",), BUILT),
]
