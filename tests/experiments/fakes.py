"""Protocols and reports made by hand."""

from keras_vaf.experiments import Protocol, Report, find_variants


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


def make_report(**fields):
    defaults = {
        "protocol": make_protocol(),
        "seed": 0,
        "fold": 0,
        "rows": {"train": 16, "validation": 4, "test": 20},
        "scores": {"accuracy": 0.75},
        "baseline": {"accuracy": 0.5},
        "validation": {"loss": 0.4, "accuracy": 0.75},
        "epochs": 3,
        "best_epoch": 2,
        "stopped": "epochs",
        "parameters": 41,
        "seconds": 1.25,
        "curves": {"epoch": [1, 2], "loss": [0.5, 0.25], "validation_loss": [0.6, 0.4]},
        "activations": [],
        "environment": {"backend": "jax", "device": "cpu:0", "versions": {}},
    }
    return Report(**(defaults | fields))


def make_arm(variant, scores, metric="accuracy", task="classification", **fields):
    """Return the reports of one variant, one for each score."""
    protocol = make_protocol(variant=find_variants(variant)[0], task=task)
    return [
        make_report(
            protocol=protocol,
            fold=fold,
            scores={metric: score},
            baseline={metric: 0.5},
            **fields,
        )
        for fold, score in enumerate(scores)
    ]
