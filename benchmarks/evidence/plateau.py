"""Why networks with trained functions stop early on puma32h.

`KERAS_BACKEND=jax python -m benchmarks.evidence.plateau` trains SiLU and a VAF from
SiLU for 150 epochs without early stopping, with the smallest learning rate of the
protocol `ours`. It writes `docs/reports/evidence/plateau.json`, the validation RMSE
after every epoch.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import keras
import numpy as np

from benchmarks.evidence.tables import ARMS
from keras_vaf.datasets import Preprocessing, load
from keras_vaf.models import mlp
from keras_vaf.training import fold_rows, train
from keras_vaf.utils import write_atomically

OUTPUT = Path("docs/reports/evidence/plateau.json")
EPOCHS = 150
FOLDS = 3


def main() -> int:
    """Train the networks and write their losses."""
    dataset = load("puma32h")
    curves: dict[str, list[list[float]]] = {}
    rows = fold_rows(dataset.y, stratify=False)[:FOLDS]
    for arm in ("silu", "vaf-silu"):
        for fold, (training, validation, _) in enumerate(rows):
            fitted = Preprocessing(targets="min-max").fit(dataset, training)
            x, y = fitted.transform(dataset, np.arange(len(dataset.x)))
            model = mlp(x.shape[1], (50, 25), 1, ARMS[arm], seed=fold)
            model.compile(keras.optimizers.Adam(0.0001), "mse")
            held_out = x[validation], y[validation, None]
            history = train(
                *(model, x[training], y[training, None], held_out),
                *(EPOCHS, 32),
            )
            losses = history.metrics["val_loss"]
            curves.setdefault(arm, []).append(np.sqrt(losses).round(4).tolist())
            write_atomically(OUTPUT, json.dumps(curves) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
