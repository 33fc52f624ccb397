"""Experiments beyond the paper: start, k, g, sharing and optimizer of a VAF."""

from __future__ import annotations

from typing import Any

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.copies_start import COPIES_START
from keras_vaf.experiments.optimizer import Optimizer
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.variants import RESCALED_START, Variant
from keras_vaf.research.paper.experiment import Experiment, Form
from keras_vaf.research.paper.fully_connected import (
    ARCHITECTURES,
    ARMS,
    CLASSIFICATIONS,
    REGRESSIONS,
    fields_of,
)
from keras_vaf.research.paper.tables.published_table import published_table

_HIDDEN = (25, 10)
_DEEP = (10,) * 8
_DECAYING = {"learning_rate": 0.001, "weight_decay": 0.01}
_RELU, _RANDOM, _RESCALED, _EXACT = ARMS


def _vaf(name: str, title: str, **arguments: Any) -> Variant:
    """Return the default VAF with other values of some arguments."""
    known = {**_EXACT.arguments, **arguments}
    return Variant(name, f"VAF, {title}", "VAFActivation", known)


CHOICES = (
    _EXACT,
    _RELU,
    _RANDOM,
    _RESCALED,
    _vaf("vaf-copies", "k equal copies of ReLU", initialization=COPIES_START),
    _vaf("vaf-k1", "k = 1", k=1),
    _vaf("vaf-k5", "k = 5", k=5),
    _vaf("vaf-k9", "k = 9", k=9),
    _vaf("vaf-neuron", "not shared", sharing="neuron"),
    _vaf("vaf-tanh", "g = tanh", g="tanh", initialization="tanh"),
    _vaf("vaf-tanh-random", "g = tanh, random", g="tanh", initialization="random"),
    _vaf(
        "vaf-tanh-rescaled",
        "g = tanh, rescaled random",
        g="tanh",
        initialization=RESCALED_START,
    ),
    _vaf("vaf-silu", "g = silu", g="silu", initialization="silu"),
    Variant("tanh", "tanh", "Activation", {"activation": "tanh"}),
    Variant("silu", "SiLU", "Activation", {"activation": "silu"}),
)
"""The default VAF, which starts as ReLU, and VAFs that differ in one choice."""

_FIXED = {"tanh": ("vaf-tanh",), "silu": ("vaf-silu",)}
"""Fixed functions that are compared with the VAFs that start at them."""

OPTIMIZERS = (
    (_vaf("vaf-adamw", "AdamW"), None),
    (Variant("relu-adamw", "ReLU, AdamW", "ReLU"), None),
    (_vaf("vaf-adamw-no-decay", "AdamW, no weight decay for activations"), 1.0),
    (_vaf("vaf-adamw-tenth", "AdamW, 0.1 x learning rate for activations"), 0.1),
    (_vaf("vaf-adamw-tenfold", "AdamW, 10 x learning rate for activations"), 10.0),
)
"""The same VAF with AdamW, and relative learning rates of its parameters."""


def protocols_of_choices(dataset: Dataset, form: Form) -> list[Protocol]:
    """Return the protocols that differ from the default VAF in one choice.

    Most protocols are trained as in `protocols_of`. The protocols with AdamW use
    batches of 32, a learning rate of 0.001 and a weight decay of 0.01. Unless the form
    names architectures, the network is 25-10. A form can also name eight layers of 10
    units, for which the scale of the signal at the start matters most.
    """
    fields = fields_of(dataset, form)
    decaying = {**fields, "batch_size": 32, "rates": ()}
    return [
        protocol
        for hidden in form.architectures or (_HIDDEN,)
        for protocol in (
            *(
                Protocol.of(dataset, variant, hidden=hidden, **fields)
                for variant in CHOICES
            ),
            *(
                Protocol.of(
                    dataset,
                    variant,
                    hidden=hidden,
                    **decaying | {"optimizer": Optimizer("AdamW", _DECAYING, apart)},
                )
                for variant, apart in OPTIMIZERS
            ),
        )
    ]


def _experiment(tables: Experiment) -> Experiment:
    """Return the experiment on the data of a table."""
    first = OPTIMIZERS[0][0].name
    return Experiment(
        f"choices-{tables.name}",
        f"{tables.title}: choices",
        tables.datasets,
        protocols_of_choices,
        published_table,
        published=(),
        metric=tables.metric,
        architectures=(*ARCHITECTURES, _DEEP),
        quick_rows=200,
        references={
            **{variant.name: (_EXACT.name,) for variant in CHOICES},
            **_FIXED,
            **{variant.name: (first,) for variant, _ in OPTIMIZERS},
        },
    )


CHOICES_REGRESSION = _experiment(REGRESSIONS)
CHOICES_CLASSIFICATION = _experiment(CLASSIFICATIONS)
