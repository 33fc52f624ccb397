"""Run scikit-learn's `check_estimator` on both estimators, and write its report.

KERAS_BACKEND=torch python -m benchmarks.estimator_checks
"""

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras

from benchmarks.environment import environment
from keras_vaf.utils import markdown_table, write_atomically

EXPECTED_FAILED_CHECKS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "A repeated row is in other mini-batches than a row of weight 2, as in "
        "scikit-learn's own mini-batch networks."
    )
}
"""Names and reasons of the checks that the estimators are expected to fail."""

ARGUMENTS = {"hidden": (20,), "epochs": 60, "learning_rate": 0.01}
"""Arguments with which the checks take seconds."""


def check(estimator: Any) -> list[dict[str, Any]]:
    """Return scikit-learn's result of each check of an estimator."""
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return check_estimator(
            estimator,
            expected_failed_checks=EXPECTED_FAILED_CHECKS,
            on_fail=None,
            on_skip=None,
        )


def report(results: dict[str, list[dict[str, Any]]]) -> str:
    """Return counts and all checks that did not pass, as Markdown."""
    import sklearn

    versions = environment()
    states = ("passed", "xfail", "skipped", "failed")
    counts = {
        name: Counter(r["status"] for r in each) for name, each in results.items()
    }
    lines = [
        [f"`{name}`", *(str(found[state]) for state in states)]
        for name, found in counts.items()
    ]
    columns = ["estimator", "passed", "failed as expected", "skipped", "failed"]
    others = [
        f"- `{name}`, `{r['check_name']}`: {r['status']}. {_reason(r)}"
        for name, each in results.items()
        for r in each
        if r["status"] != "passed"
    ]
    where = (
        f"scikit-learn {sklearn.__version__}, Keras {versions['keras']} on "
        f"{keras.backend.backend()}, Python {versions['Python']}."
    )
    return "\n".join([markdown_table(columns, lines), "", *others, "", where, ""])


def _reason(result: dict[str, Any]) -> str:
    reason = result["expected_to_fail_reason"] or result["exception"]
    return str(reason).splitlines()[0]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Its exit code is 1 if a check fails unexpectedly."""
    from keras_vaf.sklearn import VAFClassifier, VAFRegressor

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.estimator_checks", description=__doc__
    )
    parser.add_argument("--output", type=Path, default=Path("docs/reports/tables"))
    arguments = parser.parse_args(argv)
    kinds = (VAFClassifier, VAFRegressor)
    results = {kind.__name__: check(kind(**ARGUMENTS)) for kind in kinds}
    text = report(results)
    print(text)
    write_atomically(arguments.output / "check_estimator.md", text)
    return int(any(r["status"] == "failed" for each in results.values() for r in each))


if __name__ == "__main__":
    sys.exit(main())
