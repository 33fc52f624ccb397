"""Protocols and reports made by hand."""

import io
import zipfile

import keras

from keras_vaf.experiments import Protocol, Report, Trial, find_variants


def network_file():
    """Return the content of a `.keras` file, which has no layers."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("config.json", '{"class_name": "Sequential", "config": {}}')
        file.writestr("model.weights.h5", b"\x89HDF\r\n\x1a\n")
    return archive.getvalue()


def make_protocol(**fields):
    defaults = {
        "dataset": "toy",
        "checksum": "c0ffee",
        "task": "classification",
        "variant": find_variants("relu")[0],
        "hidden": (5, 3),
        "epochs": 3,
        "folds": 2,
    }
    return Protocol(**(defaults | fields))


def make_trial(**fields):
    defaults = {
        "rate": None,
        "scores": {"accuracy": 0.75},
        "validation": {"loss": 0.4, "accuracy": 0.75},
        "epochs": 3,
        "best_epoch": 2,
        "stopped": "epochs",
    }
    return Trial(**(defaults | fields))


def make_report(**fields):
    defaults = {
        "protocol": make_protocol(folds=10),
        "seed": 0,
        "fold": 0,
        "rows": {"train": 16, "validation": 4, "test": 20},
        "trials": (make_trial(),),
        "baseline": {"accuracy": 0.5},
        "parameters": 41,
        "seconds": 1.25,
        "curves": {"epoch": [1, 2], "loss": [0.5, 0.25], "validation_loss": [0.6, 0.4]},
        "activations": [],
        "environment": {
            "backend": keras.backend.backend(),
            "device": "cpu:0",
            "versions": {},
        },
        "flops": 90,
    }
    return Report(**(defaults | fields))


def make_arm(
    variant, scores, task="classification", losses=(), validation=(), **fields
):
    """Return the reports of one variant, or its name; one for each test score."""
    metric = "rmse" if task == "regression" else "accuracy"
    if isinstance(variant, str):
        variant = find_variants(variant)[0]
    protocol = make_protocol(variant=variant, task=task, **fields.pop("protocol", {}))
    losses = losses or [0.4] * len(scores)
    validation = validation or [0.75] * len(scores)
    return [
        make_report(
            protocol=protocol,
            fold=fold,
            trials=(
                make_trial(
                    scores={metric: score}, validation={"loss": loss, metric: valid}
                ),
            ),
            baseline={metric: 0.5},
            **fields,
        )
        for fold, (score, loss, valid) in enumerate(
            zip(scores, losses, validation, strict=True)
        )
    ]
