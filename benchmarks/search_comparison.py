"""Equal budgets: `python -m benchmarks.search_comparison`.

A searched VAF, the paper's fixed VAF (k = 3, ReLU, shared) and ReLU, on the six
smallest datasets of the paper. Each has the same number of trials: the VAF at k, g,
sharing and initialization, the two others at what they have, the width of the layers
and the learning rate. Each outer fold is the test set of a search on all other rows,
which never sees it; the winner is trained on all of these rows and tested once. Every
fold that is finished is kept: the same command goes on from there.
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

from benchmarks.environment import environment
from keras_vaf.datasets import Dataset, Preprocessing, load
from keras_vaf.datasets.scores import Rows, baseline_scores, network_scores
from keras_vaf.experiments import RPROP, corrected_t_test
from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation
from keras_vaf.models import mlp
from keras_vaf.training import k_folds
from keras_vaf.tuners import CrossValidated, SearchSpace, activation, ranked
from keras_vaf.utils import deviation, markdown_table, require, write_atomically

DATASETS = ("servo", "wine", "yacht", "liver", "dermatology", "climate_crashes")
HIDDEN = (100, 50)
FACTORS = [0.25, 0.5, 1.0, 2.0]
RATES = [0.001, 0.003, 0.01, 0.03, 0.1]
_RANDOM = RandomStart(rescale=True)
SPACE = SearchSpace(initialization={"random": _RANDOM, "relu": "relu"})


def searched_vaf(hp: Any) -> tuple[tuple[int, ...], float, Callable[[], Any]]:
    return HIDDEN, 0.01, lambda: activation(hp, space=SPACE)


def fixed_vaf(hp: Any) -> tuple[tuple[int, ...], float, Callable[[], Any]]:
    return *_width_and_rate(hp), lambda: VAFActivation(initialization=_RANDOM)


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
    started = time.monotonic()
    classes = dataset.class_names is not None
    rows, test = k_folds(dataset.y, options.outer_folds, 0, stratify=classes)[fold]
    fitted = Preprocessing(targets="none" if classes else "standard").fit(dataset, rows)
    tuner = _tuner(dataset, arm, fold, fitted, options)

    def preprocess(x: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        part = replace(dataset, x=x, y=np.zeros(len(x), dataset.y.dtype))
        return Preprocessing().fit(part, slice(None)).transform_inputs

    x, y = dataset.x[rows], fitted.transform_targets(dataset.y[rows])
    tuner.search(x, y, epochs=options.epochs, preprocess=preprocess)
    model = tuner.refit_best()
    metric = "accuracy" if classes else "rmse"
    best = ranked(tuner.results(), "min")[0]
    return {
        "dataset": dataset.name,
        "task": dataset.task,
        "arm": arm,
        "fold": fold,
        "score": network_scores(model, dataset, fitted, test)[metric],
        "constant": baseline_scores(dataset, fitted, Rows(rows, rows, test))[metric],
        "validation": best.score,
        "values": best.values,
        "parameters": model.count_params(),
        "seconds": round(time.monotonic() - started, 1),
    }


def _tuner(
    dataset: Dataset, arm: str, fold: int, fitted: Any, options: argparse.Namespace
) -> Any:
    inputs = fitted.transform_inputs(dataset.x[:1]).shape[1]
    classes = len(dataset.class_names or ())

    def build(hp: Any) -> keras.Model:
        hidden, rate, layer = ARMS[arm](hp)
        seed = random.getrandbits(31)
        model = mlp(inputs, hidden, classes or 1, layer, seed=seed)
        loss = keras.losses.MeanSquaredError()
        if classes:
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        arguments = {**RPROP.arguments, "learning_rate": rate}
        model.compile(replace(RPROP, arguments=arguments).build(), loss)
        return model

    tuner = CrossValidated(require("keras_tuner", extra="tune").RandomSearch)(
        build,
        objective="val_loss",
        max_trials=options.trials,
        folds=options.folds,
        stratify=classes > 0,
        seed=1,
        directory=options.scratch / dataset.name,
        project_name=f"{arm.replace(' ', '-')}-{fold}",
    )
    tuner.oracle.verbose = 0
    return tuner


def markdown(document: dict[str, Any]) -> str:
    """Return the table of all datasets, from the document alone."""
    options, results = document["options"], document["results"]
    minutes = sum(result["seconds"] for result in results) / 60
    lines = [
        "# Equal budgets",
        "",
        f"{options['trials']} trials for each activation, scored by {options['folds']} "
        f"folds of the rows outside of the test fold, at most {options['epochs']} "
        f"epochs; {options['outer_folds']} test folds. Mean and deviation of the test "
        "scores: accuracy (higher is better), or RMSE (lower is better). constant: the "
        "best predictor that ignores its inputs. p: searched VAF against ReLU, by the "
        "corrected resampled t-test.",
        "",
        "Trials, epochs and folds were chosen to take less than an hour on one core: "
        f"{minutes:.0f} minutes on {document['environment']['processor']}, backend "
        f"{document['backend']}. With so few test folds only large differences show.",
        "",
    ]
    rows = []
    for name in dict.fromkeys(result["dataset"] for result in results):
        own = [result for result in results if result["dataset"] == name]
        rows.append(_row(own, 1 / options["outer_folds"]))
    columns = ["data", "score", *ARMS, "constant", "p"]
    return "\n".join([*lines, markdown_table(columns, rows, text_columns=2)]) + "\n"


def _row(results: list[dict[str, Any]], test_fraction: float) -> list[str]:
    """Return the row of one dataset."""
    scores = {
        arm: {r["fold"]: r["score"] for r in results if r["arm"] == arm} for arm in ARMS
    }
    searched, other = scores["searched VAF"], scores["ReLU"]
    differences = [searched[fold] - other[fold] for fold in searched.keys() & other]
    p = ""
    if len(differences) > 1:
        p = f"{corrected_t_test(differences, test_fraction):.2g}"
    cells = [_cell(list(folds.values())) for folds in scores.values()]
    constants = {result["fold"]: result["constant"] for result in results}
    constant = f"{statistics.fmean(constants.values()):.4g}"
    score = "accuracy" if results[0]["task"] == "classification" else "RMSE"
    return [results[0]["dataset"], score, *cells, constant, p]


def _cell(scores: list[float]) -> str:
    if not scores:
        return ""
    return f"{statistics.fmean(scores):.4g} ± {deviation(scores):.2g}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.search_comparison", description=__doc__
    )
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--outer-folds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--scratch", type=Path, default=Path("runs/search-comparison"))
    parser.add_argument("--output", type=Path, default=Path("docs/reports/search"))
    options = parser.parse_args(argv)
    path = options.output / "comparison.json"
    document = _go_on(path, options)
    _keep_programs(options.scratch / "programs")
    done = {(r["dataset"], r["arm"], r["fold"]) for r in document["results"]}
    for dataset in [load(name) for name in options.datasets]:
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


def _keep_programs(folder: Path) -> None:
    """Compile once what many trials have in common, such as those of equal width."""
    if keras.backend.backend() == "jax":
        import jax

        jax.config.update("jax_compilation_cache_dir", str(folder.resolve()))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)


def _go_on(path: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Return the document of an earlier run with these options, or a new one."""
    decisive = {
        "backend": keras.backend.backend(),
        "options": {
            name: getattr(options, name)
            for name in ("trials", "folds", "outer_folds", "epochs")
        },
    }
    if path.is_file():
        found = json.loads(path.read_bytes())
        if {name: found[name] for name in decisive} == decisive:
            return found
    return {**decisive, "environment": environment(), "results": []}


if __name__ == "__main__":
    sys.exit(main())
