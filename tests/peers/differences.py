"""Tests of Keras that fail with VAFs for a known reason, as data.

A listed test must fail with the error of its reason. A test that passes, or fails with
another error, is an error of this list.
"""

import re
from typing import NamedTuple


class Reason(NamedTuple):
    """Why tests fail.

    Attributes:
        text: The reason, as a sentence.
        error: Pattern of the class and the message of the error.
    """

    text: str
    error: str


COUNT = Reason(
    "The test counts weights, and a VAF has four.",
    r"AssertionError: \d+ != \d+|ValueError: You called `set_weights\(weights\)`",
)
FUSED = Reason(
    "Keras computes a recurrent layer in one call only if its activation is tanh.",
    "AssertionError: False is not true",
)
FUNCTION = Reason(
    "The test compares the activation with the function that it replaces.",
    r"AssertionError: <VAFActivation .*> != <function relu",
)
MOCK = Reason(
    "The test puts an object other than a layer in the place of a layer.",
    "RuntimeError: Unable to automatically build the model",
)
FIXTURE = Reason(
    "Keras's wheel lacks the file that the test reads.",
    "AssertionError: False is not true : Backward-compat fixture missing",
)
BUILT = Reason(
    "Keras builds a layer without the layer that is its activation. Parameters that "
    "are shared per channel then appear in the first call, as those of PReLU do.",
    r"AssertionError: \d+ != \d+ : Unexpected number of trainable_weights",
)
TRACED = Reason(
    BUILT.text + " On JAX the first call of a GRU is a loop that JAX traces.",
    "jax.errors.UnexpectedTracerError",
)
LOADED = Reason(
    BUILT.text,
    r"ValueError: A total of \d+ objects could not be loaded.*VAFActivation.*channel",
)

# Pattern of the name of a test, the backend and sharing under which it fails (empty:
# all), and the reason. The first row that fits counts.
DIFFERENCES: list[tuple[str, tuple[str, ...], Reason]] = [
    ("::DenseTest::test_dense_correctness", ("layer",), COUNT),
    ("::DenseTest::test_dense_with_activation", ("layer",), COUNT),
    ("::MultiHeadAttentionTest::test_lora", ("channel",), LOADED),
    ("::MultiHeadAttentionTest::test_lora", ("layer",), COUNT),
    ("::SavingTest::test_scalar_weight", (), COUNT),
    ("::SimpleRNNTest::test_fused_gru_eligibility", (), FUSED),
    ("::SimpleRNNTest::test_fused_lstm_eligibility", (), FUSED),
    ("::SerializationLibTest::test_layer_string_as_activation", (), FUNCTION),
    ("::LayerTest::test_functional_model_with_remat", ("torch",), MOCK),
    ("::SavingBattleTest::test_legacy_load_skips_missing", (), FIXTURE),
    ("::ActivationTest::test_activation_basics", ("channel",), BUILT),
    ("::GroupedQueryAttentionTest::test_basics$", ("channel",), BUILT),
    ("::MultiHeadAttentionTest::test_basics$", ("channel",), BUILT),
    ("::MultiHeadAttentionTest::test_high_dim_attention", ("channel",), BUILT),
    ("::ConvBasicTest::test_lora_rank_argument", ("channel",), BUILT),
    ("::DenseTest::test_lora_rank_argument", ("channel",), BUILT),
    ("::DenseTest::test_dense_basics", ("channel",), BUILT),
    ("::SimpleRNNTest::test_basics", ("channel",), BUILT),
    ("::ConvLSTM1DTest::test_basics", ("channel",), BUILT),
    ("::ConvLSTM2DTest::test_basics", ("channel",), BUILT),
    ("::ConvLSTM3DTest::test_basics", ("channel",), BUILT),
    ("::GRUTest::test_basics", ("channel",), BUILT),
    ("::GRUTest::test_statefulness", ("channel", "jax"), TRACED),
    ("::LSTMTest::test_basics", ("channel",), BUILT),
    ("::SavingTest::test_weights_sharding_efficientnet", ("channel",), LOADED),
]


def reason_of(test: str, here: set[str]) -> Reason | None:
    """Return why a test fails, or `None` if it must pass.

    Args:
        test: Name of the test.
        here: The backend and the sharing.
    """
    for pattern, where, reason in DIFFERENCES:
        if re.search(pattern, test) and set(where) <= here:
            return reason
    return None


def fails_as_known(reason: Reason, error: str) -> bool:
    """Tell whether an error, its class and its message, is that of a reason."""
    return re.match(reason.error, error, re.DOTALL) is not None
