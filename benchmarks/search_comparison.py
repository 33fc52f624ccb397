"""Equal budgets: `python -m benchmarks.search_comparison`.

A searched VAF, the paper's fixed VAF (k = 3, ReLU, shared) and ReLU, on small datasets
of the paper. Each has the same number of trials: the VAF at k, g, sharing and
initialization, the two others at what they have, the width of the layers and the
learning rate. Each outer fold is the test set of a search on all other rows, which
never sees it; the winner is trained on all of these rows and tested once. Every fold
that is finished is kept: the same command goes on from there.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import keras
import numpy as np

from keras_vaf.datasets import Dataset, Preprocessing, load
from keras_vaf.experiments import RPROP
from keras_vaf.layers import VAFActivation
from keras_vaf.models import mlp
from keras_vaf.training import k_folds
from keras_vaf.tuners import CrossValidated, activation, ranked
from keras_vaf.tuners.versions import keras_tuner
from keras_vaf.utils import write_atomically

DATASETS = (
    "wine",
    "liver",
    "dermatology",
    "image_segmentation",
    "yacht",
    "energy_efficiency",
)
HIDDEN = (100, 50)
FACTORS = [0.25, 0.5, 1.0, 2.0]
RATES = [0.001, 0.003, 0.01, 0.03, 0.1]


def searched_vaf(hp: Any) -> tuple[tuple[int, ...], float, Callable[[], Any]]:
    return HIDDEN, 0.01, lambda: activation(hp)


def fixed_vaf(hp: Any) -> tuple[tuple[int, ...], float, Callable[[], Any]]:
    return *_width_and_rate(hp), VAFActivation


def relu(hp: Any) -> tuple[tuple[int, ...], float, Callable[[], Any]]:
    return *_width_and_rate(hp), keras.layers.ReLU


ARMS = {"searched VAF": searched_vaf, "fixed VAF": fixed_vaf, "ReLU": relu}


def _width_and_rate(hp: Any) -> tuple[tuple[int, ...], float]:
    factor = hp.Choice("width", FACTORS)
    return tuple(round(factor * w) for w in HIDDEN), hp.Choice("rate", RATES)


def test_score(
    dataset: Dataset, arm: str, fold: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Search without the rows of a fold, and test the winner on them."""
    classes = dataset.class_names
    folds = k_folds(dataset.y, options.outer_folds, 0, stratify=classes is not None)
    rows, test = folds[fold]
    fitted = Preprocessing(targets="none" if classes else "standard").fit(dataset, rows)

    def preprocess(x: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        part = replace(dataset, x=x, y=np.zeros(len(x), dataset.y.dtype))
        return Preprocessing().fit(part, slice(None)).transform_inputs

    def build(hp: Any) -> keras.Model:
        hidden, rate, layer = ARMS[arm](hp)
        seed = random.getrandbits(31)
        outputs = len(classes) if classes else 1
        model = mlp(_inputs(fitted, dataset), hidden, outputs, layer, seed=seed)
        loss = keras.losses.MeanSquaredError()
        if classes:
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        arguments = {**RPROP.arguments, "learning_rate": rate}
        model.compile(replace(RPROP, arguments=arguments).build(), loss)
        return model

    tuner = CrossValidated(keras_tuner().RandomSearch)(
        build,
        objective="val_loss",
        max_trials=options.trials,
        folds=options.folds,
        stratify=classes is not None,
        seed=1,
        directory=options.scratch / dataset.name,
        project_name=f"{arm.replace(' ', '-')}-{fold}",
    )
    tuner.oracle.verbose = 0
    started = time.monotonic()
    x, y = dataset.x[rows], fitted.transform_targets(dataset.y[rows])
    tuner.search(x, y, epochs=options.epochs, preprocess=preprocess)
    model = tuner.refit_best()
    outputs = model.predict(fitted.transform_inputs(dataset.x[test]), verbose=0)
    if classes:
        score = float(np.mean(outputs.argmax(axis=1) == dataset.y[test]))
    else:
        score = fitted.rmse(dataset.y[test], outputs)
    best = ranked(tuner.results(), "min")[0]
    return {
        "dataset": dataset.name,
        "task": dataset.task,
        "arm": arm,
        "fold": fold,
        "score": score,
        "validation": best.score,
        "values": best.values,
        "parameters": model.count_params(),
        "seconds": round(time.monotonic() - started, 1),
    }


def _inputs(fitted: Any, dataset: Dataset) -> int:
    return fitted.transform_inputs(dataset.x[:1]).shape[1]


def markdown(document: dict[str, Any]) -> str:
    """Return the table of all datasets, from the document alone."""
    options = document["options"]
    lines = [
        "# Equal budgets",
        "",
        f"{options['trials']} trials each, scored by {options['folds']} folds of the "
        f"rows outside of the test fold; {options['outer_folds']} test folds. Mean and "
        "deviation of the test scores: accuracy (higher is better), or RMSE (lower is "
        f"better). Backend: {document['backend']}.",
        "",
        f"| data | score | {' | '.join(ARMS)} |",
        f"| --- | --- | {' | '.join('---' for _ in ARMS)} |",
    ]
    results = document["results"]
    for name in dict.fromkeys(result["dataset"] for result in results):
        own = [result for result in results if result["dataset"] == name]
        cells = [_cell([r["score"] for r in own if r["arm"] == arm]) for arm in ARMS]
        score = "accuracy" if own[0]["task"] == "classification" else "RMSE"
        lines.append(f"| {name} | {score} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(scores: list[float]) -> str:
    if not scores:
        return ""
    deviation = statistics.stdev(scores) if len(scores) > 1 else 0.0
    return f"{statistics.fmean(scores):.4g} ± {deviation:.2g}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.search_comparison", description=__doc__
    )
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--outer-folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--scratch", type=Path, default=Path("runs/search-comparison"))
    parser.add_argument("--output", type=Path, default=Path("docs/reports/search"))
    options = parser.parse_args(argv)
    document = {
        "backend": keras.backend.backend(),
        "options": {
            name: getattr(options, name)
            for name in ("trials", "folds", "outer_folds", "epochs")
        },
        "results": [],
    }
    path = options.output / "comparison.json"
    if path.is_file():
        found = json.loads(path.read_bytes())
        if {**found, "results": []} == document:
            document = found
    done = {(r["dataset"], r["arm"], r["fold"]) for r in document["results"]}
    for name in options.datasets:
        dataset = load(name)
        for fold in range(options.outer_folds):
            for arm in ARMS:
                if (dataset.name, arm, fold) in done:
                    continue
                result = test_score(dataset, arm, fold, options)
                document["results"].append(result)
                print(dataset.name, arm, fold, result["score"], flush=True)
                write_atomically(path, json.dumps(document, indent=1) + "\n")
                write_atomically(path.with_suffix(".md"), markdown(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
