"""The report of scikit-learn's checks names each check that did not pass."""

import pytest

from benchmarks.estimator_checks import report

pytestmark = pytest.mark.backend("tensorflow")


def result(name, status, reason=None, exception=None):
    """Return the result of a check, as scikit-learn does."""
    return {
        "check_name": name,
        "status": status,
        "expected_to_fail_reason": reason,
        "exception": exception,
    }


def test_each_check_that_did_not_pass_is_named():
    pytest.importorskip("sklearn")
    text = report(
        {
            "One": [
                result("a", "passed"),
                result("b", "xfail", "rows differ"),
                result("c", "skipped", exception=ValueError("no pandas\nat all")),
            ]
        }
    )
    assert "| `One` | 1 | 1 | 1 | 0 |" in text
    assert "- `One`, `b`: xfail. rows differ" in text
    assert "- `One`, `c`: skipped. no pandas\n" in text
    assert "`a`" not in text
