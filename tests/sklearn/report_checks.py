"""Write the report of scikit-learn's own checks of the estimators.

`KERAS_BACKEND=torch python -m tests.sklearn.report_checks`
"""

import collections
import platform
import warnings
from pathlib import Path

import keras
import sklearn
from sklearn.utils.estimator_checks import check_estimator

from keras_vaf.sklearn import VAFClassifier, VAFRegressor
from keras_vaf.utils import markdown_table, write_atomically
from tests.sklearn.test_estimators import EXPECTED_FAILED_CHECKS, MINI_BATCHES

REPORT = Path(__file__).parents[2] / "docs/reports/tables/check_estimator.md"
COLUMNS = {
    "passed": "passed",
    "xfail": "failed as expected",
    "skipped": "skipped",
    "failed": "failed",
}


def main():
    rows, notes = [], []
    for kind in (VAFClassifier, VAFRegressor):
        results = check_estimator(
            kind(**MINI_BATCHES),
            expected_failed_checks=EXPECTED_FAILED_CHECKS,
            on_skip=None,
            on_fail=None,
        )
        name = f"`{kind.__name__}`"
        counts = collections.Counter(each["status"] for each in results)
        rows.append((name, *(str(counts[status]) for status in COLUMNS)))
        notes += [
            f"- {name}, `{each['check_name']}`: {COLUMNS[each['status']]}. "
            f"{each['expected_to_fail_reason'] or each['exception']}"
            for each in results
            if each["status"] != "passed"
        ]
    table = markdown_table(("estimator", *COLUMNS.values()), rows)
    where = (
        f"scikit-learn {sklearn.__version__}, Keras {keras.__version__} on "
        f"{keras.backend.backend()}, Python {platform.python_version()}."
    )
    parts = [table.rstrip("\n"), "\n".join(notes), where]
    write_atomically(REPORT, "\n\n".join(parts) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
