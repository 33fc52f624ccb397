"""Answer the registered comparisons from the records of their trainings.

`python -m benchmarks.evidence.answers` reads `docs/reports/evidence/*.json.gz`, which
`python -m benchmarks.evidence pack` writes, and writes `answers.md` there: one row for
each comparison of `docs/registered.md`, with the rules of that page. A study that is
not complete has no row but the share of its trainings.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.evidence.ratios import Ratio
from benchmarks.evidence.records import unpack
from keras_vaf.experiments.results.significance import (
    corrected_interval,
    corrected_t_test,
    holm,
)
from keras_vaf.utils import markdown_table, write_atomically

PACKED = Path("docs/reports/evidence")
FIXED = ("relu", "gelu", "silu", "tanh")
FAMILY = 7
"""Number of comparisons that end in one p-value; a missing one counts as p = 1."""

Records = Iterable[dict[str, Any]]


@dataclass(frozen=True)
class Answer:
    """What came out of a registered comparison.

    Args:
        name: The comparison, and its part where it has parts.
        estimate: The ratio or the difference that the comparison is about.
        interval: Its 95 % interval.
        p: The p-value, not corrected.
        confirmed: Whether the rule for "confirmed" holds, but for the p-value.
        refuted: Whether the rule for "refuted" holds.
        corrected: The p-value after Holm's correction.
        needs_p: Whether "confirmed" needs a corrected p-value below 0.05.
    """

    name: str
    estimate: float
    interval: tuple[float, float]
    p: float
    confirmed: bool
    refuted: bool
    corrected: float = 1.0
    needs_p: bool = True

    @property
    def text(self) -> str:
        """The answer in words."""
        if self.confirmed and (self.corrected < 0.05 or not self.needs_p):
            return "confirmed"
        return "refuted" if self.refuted else "cannot tell"

    def cells(self) -> list[str]:
        """Return the cells of its row."""
        if math.isnan(self.estimate):
            return [self.name, "", "", "", "", self.text]
        low, high = self.interval
        p = [f"{self.p:.4f}", f"{self.corrected:.4f}"] if self.needs_p else ["", ""]
        numbers = [f"{self.estimate:.3f}", f"{low:.3f} to {high:.3f}"]
        return [self.name, *numbers, *p, self.text]


def folds_of(records: Records) -> pd.DataFrame:
    """Return one row for each fold of each training on a table.

    Args:
        records: The records of a study of tables. A training that diverged gets the
            error of the constant prediction where the study has it.
    """
    rows = []
    for record in records:
        keys = {name: record.get(name) for name in ("dataset", "arm", "rate")}
        for fold, results in enumerate(record["folds"]):
            rows.append({**keys, "fold": fold, **results})
    frame = pd.DataFrame(rows)
    constant = frame[frame.arm == "constant"].set_index(["dataset", "fold"]).test
    diverged = ~np.isfinite(frame.test)
    for row in frame.index[diverged]:
        place = frame.dataset[row], frame.fold[row]
        frame.loc[row, "test"] = constant.get(place, math.inf)
    return frame


def selected(frame: pd.DataFrame, by: Sequence[str] = ("arm",)) -> pd.DataFrame:
    """Return the rows with the smallest validation loss of each dataset and fold.

    Args:
        frame: Result of `folds_of`.
        by: What is not selected but kept apart.
    """
    trained = frame[frame.rate.notna()].sort_values(["validation", "rate"])
    return trained.drop_duplicates(["dataset", "fold", *by])


def mean_errors(frame: pd.DataFrame, arm: str) -> pd.Series:
    """Return the mean test error of an arm for each dataset.

    Args:
        frame: Rows with one learning rate for each arm, dataset and fold.
        arm: The arm; "best-fixed" is what validation rows select among four.
    """
    if arm == "best-fixed":
        rows = selected(frame[frame.arm.isin(FIXED)], by=())
    else:
        rows = frame[frame.arm == arm]
    return rows.groupby("dataset").test.mean()


def ratio_of(frame: pd.DataFrame, arm: str, control: str) -> Ratio:
    """Return the ratios of two arms' mean errors over the datasets."""
    pair = [mean_errors(frame, name) for name in (arm, control)]
    return Ratio.of(*(each.sort_index().to_numpy() for each in pair))


def tables(records: Records) -> list[Answer]:
    """Answer T1 and T2 from the fourteen regressions."""
    chosen = selected(folds_of(records))
    first = ratio_of(chosen, "vaf-silu", "relu")
    second = ratio_of(chosen, "vaf-silu", "best-fixed")
    t1, t2 = first.interval(), second.interval()
    same = second.is_within(0.03)
    return [
        Answer("T1", first.mean, t1, first.p, first.mean < 1, t1[0] > 0.98),
        Answer("T2", second.mean, t2, second.p, same, t2[0] > 1, needs_p=False),
    ]


def high_rates(records: Records) -> Answer:
    """Answer T3: how errors relative to SiLU change from a rate of 0.001 to 0.03."""
    frame = folds_of(records)
    ratios = [
        ratio_of(frame[frame.rate == rate], "vaf-silu", "silu") for rate in (0.03, 1e-3)
    ]
    change = Ratio(ratios[0].logs - ratios[1].logs)
    interval, mean = change.interval(), change.mean
    return Answer("T3", mean, interval, change.p, mean < 1, interval[0] > 0.98)


def default_rate(records: Records) -> Answer:
    """Answer T4: a VAF from ReLU against ReLU on classifications at 0.001."""
    ratio = ratio_of(folds_of(records), "vaf-relu", "relu")
    interval = ratio.interval()
    return Answer(
        "T4", ratio.mean, interval, ratio.p, ratio.mean > 1, interval[1] < 1.02
    )


def bends(records: Records) -> list[Answer]:
    """Answer K for each dataset: the copy of GELU from lines against GELU."""
    chosen = selected(folds_of(records))
    found = []
    for name, rows in chosen.groupby("dataset"):
        errors = rows.pivot(index="fold", columns="arm", values="test")
        logs = np.log(errors["gelu-hinges-fixed"] / errors["gelu"]).to_list()
        share = 1 / len(logs)
        half, mean = corrected_interval(logs, share), float(np.mean(logs))
        interval = math.exp(mean - half), math.exp(mean + half)
        p = corrected_t_test(logs, share)
        answer = Answer(f"K, {name}", math.exp(mean), interval, p, mean > 0, False)
        found.append(answer)
    found = corrected(found)
    worse = [each.estimate > 1 for each in found]
    significant = sum(each.text == "confirmed" for each in found)
    return [*found, overall("K", all(worse) and significant > 1, not significant)]


def sensors(records: Records) -> list[Answer]:
    """Answer S for each of the three curves, with 80 labels."""
    frame = pd.DataFrame(list(records))
    frame = frame[frame.labels == 80]
    others = ~frame.method.str.startswith(("vaf-3", "vaf-7", "vaf-histogram"))
    learned = others & ~frame.method.isin(("nothing", "histogram"))
    found = []
    for curve in ("inversion", "gamma", "negative"):
        rows = frame[frame.curve == curve].pivot(
            index="seed", columns="method", values="accuracy"
        )
        rivals = frame[learned & (frame.curve == curve)].method.unique()
        best = rows[rivals].mean().idxmax()
        name = f"S, {curve}, against {best}"
        answer = paired(name, rows["vaf-7"] - rows[best])
        found.append(replace(answer, confirmed=answer.estimate > 0))
    found = [
        replace(each, refuted=each.estimate < 0 and each.corrected < 0.05)
        for each in corrected(found)
    ]
    texts = [each.text for each in found]
    confirmed = texts.count("confirmed")
    more_than_one = confirmed > 1 and "refuted" not in texts
    return [*found, overall("S", more_than_one, not confirmed)]


def language(records: Records) -> Answer:
    """Answer L1: a VAF from SiLU against SiLU in a transformer at equal steps."""
    frame = pd.DataFrame(list(records))
    tuning = frame[frame.seed == 0].sort_values("validation")
    rates = tuning.drop_duplicates("arm").set_index("arm").rate
    tested = frame[(frame.seed > 0) & (frame.rate == frame.arm.map(rates))]
    losses = tested.pivot(index="seed", columns="arm", values="test")
    answer = paired("L1", losses["vaf-silu"] - losses["silu"])
    limit = -0.001 * losses["silu"].mean()
    refuted = answer.interval[0] > limit
    return replace(answer, confirmed=answer.estimate < 0, refuted=refuted)


def overall(name: str, confirmed: bool, refuted: bool) -> Answer:
    """Return the answer of a comparison that has several parts, without numbers."""
    nan = math.nan
    return Answer(name, nan, (nan, nan), nan, confirmed, refuted, needs_p=False)


def paired(name: str, differences: pd.Series) -> Answer:
    """Return mean, interval and p-value of a paired t-test over seeds.

    Args:
        name: Name of the comparison.
        differences: One difference for each seed.
    """
    mean, error = differences.mean(), stats.sem(differences)
    low, high = stats.t.interval(0.95, len(differences) - 1, mean, error)
    p = stats.ttest_1samp(differences, 0).pvalue
    return Answer(name, mean, (low, high), p, False, False)


def corrected(answers: Sequence[Answer], tests: int = 0) -> list[Answer]:
    """Return answers with Holm's correction.

    Args:
        answers: The answers of a family.
        tests: Number of tests in the family, if some have no answer yet.
    """
    missing = max(0, tests - len(answers))
    values = holm([each.p for each in answers] + [1.0] * missing)
    pairs = zip(answers, values[: len(answers)], strict=True)
    return [replace(each, corrected=value) for each, value in pairs]


RULES: dict[str, Any] = {
    "regressions": lambda records: [*tables(records), high_rates(records)],
    "classifications": default_rate,
    "kinks": bends,
    "sensor": sensors,
    "language": language,
}


def main() -> int:
    """Write the answers of all studies that are packed."""
    from benchmarks.evidence.studies import BACKENDS, find_study

    found: list[Answer] = []
    family: list[Answer] = []
    missing = []
    for name in BACKENDS:
        path = PACKED / f"{name}.json.gz"
        records = unpack(path) if path.exists() else []
        expected = find_study(name).trainings()
        if len(records) < expected:
            missing.append(f"`{name}` {len(records):,} of {expected:,}")
        elif name in RULES:
            answers = RULES[name](records)
            for each in answers if isinstance(answers, list) else [answers]:
                one_p = each.needs_p and each.name in ("T1", "T3", "T4", "L1")
                (family if one_p else found).append(each)
    rows = sorted([*corrected(family, FAMILY), *found], key=lambda each: each.name)
    header = ("comparison", "estimate", "95 % interval", "p", "Holm", "answer")
    text = markdown_table(header, [each.cells() for each in rows])
    if missing:
        text += f"\n\nFinished trainings of the other studies: {', '.join(missing)}."
    write_atomically(PACKED / "answers.md", f"{text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
