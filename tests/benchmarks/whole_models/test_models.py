"""The tables of whole models are made from the files."""

import json

import pytest

from benchmarks.whole_models.__main__ import main

pytestmark = pytest.mark.backend("tensorflow")

ENVIRONMENT = {
    "keras": "3.15.1",
    "processor": "A",
    "cores": "2",
    "date": "2026-01-01",
    "backend": "jax",
}
FILES = {
    "applications_jax": [
        {
            "name": "Net",
            "replaced": 3,
            "kept": [],
            "added": 30,
            "parameters": 1000,
            "deviation_same": 0.0,
            "deviation_relu": 0.25,
            "error_relu": 0.5,
            "clone_seconds": 2.0,
            "convert_seconds": 2.5,
        }
    ],
    "finetune_jax": [
        {"seed": 0, "before": 0.5, "ReLU": 0.6, "VAF": 0.7},
        {"seed": 1, "before": 0.7, "ReLU": 0.8, "VAF": 0.7},
    ],
    "frozen_tensorflow": [
        {
            "model": "ReLU",
            "format": "ONNX",
            "bytes": 99,
            "operators": 7,
            "milliseconds": 0.5,
            "deviation": 1e-7,
        }
    ],
}


def test_the_tables(tmp_path):
    for name, results in FILES.items():
        document = {"environment": ENVIRONMENT, "results": results}
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    assert main(["tables", "--output", str(tmp_path)]) == 0
    text = (tmp_path / "models.md").read_text()
    assert "| Net | 3 | 1000 | 30 | 0.0e+00 | 2.5e-01 | 5.0e-01 | 1.25 |  |  |" in text
    assert "| ReLU | 0.7000 | 0.1414 | 0.6000, 0.8000 |" in text
    assert "| ONNX | ReLU | 99 | 7 | 0.500 | 1.0e-07 |" in text
    assert text.count("Keras 3.15.1, A, 2 cores, 2026-01-01.") == 3
