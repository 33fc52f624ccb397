"""Answer the registered comparisons from the records of their trainings.

`python -m benchmarks.evidence.answers` reads `docs/reports/evidence/*.json.gz`, which
`python -m benchmarks.evidence pack` writes, and writes `answers.md` there: one row for
each comparison of `docs/registered.md`, with the rules of that page. A study that is
not complete has no row but the share of its trainings.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.evidence.answer import Answer, Records, corrected, overall
from benchmarks.evidence.ratios import is_within
from benchmarks.evidence.records import unpack
from benchmarks.evidence.seed_answers import (
    all_images,
    images,
    language,
    periodic,
    random_functions,
    sensors,
)
from keras_vaf.experiments.results.ratio import Ratio
from keras_vaf.experiments.results.significance import (
    corrected_interval,
    corrected_t_test,
)
from keras_vaf.utils import markdown_table, write_atomically

PACKED = Path("docs/reports/evidence")
FIXED = ("relu", "gelu", "silu", "tanh")
ONE_P = ("T1", "T3", "T4", "M1", "M2", "L1", "L2")
"""The comparisons that end in one p-value; a missing one counts as p = 1."""


def packed_frame(*studies: str) -> pd.DataFrame:
    """Return the packed records of studies, one row for each training.

    Args:
        *studies: Names of studies.
    """
    return pd.concat(
        pd.DataFrame(unpack(PACKED / f"{each}.json.gz")) for each in studies
    )


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
    same = is_within(second, 0.03)
    return [
        Answer("T1", first.mean, t1, first.p, first.mean < 1, t1[0] > 0.98),
        Answer("T2", second.mean, t2, second.p, same, t2[0] > 1, needs_p=False),
    ]


def high_rates(records: Records) -> Answer:
    """Answer T3: how errors relative to SiLU change from 0.001 to 0.03."""
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


RULES: dict[str, Any] = {
    "regressions": lambda records: [*tables(records), high_rates(records)],
    "classifications": default_rate,
    "kinks": bends,
    "sensor": sensors,
    "map": periodic,
    "functions": random_functions,
    "language": language,
    "images": images,
    "images-all": all_images,
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
                one_p = each.needs_p and each.name.partition(",")[0] in ONE_P
                (family if one_p else found).append(each)
    rows = sorted([*corrected(family, len(ONE_P)), *found], key=lambda each: each.name)
    header = ("comparison", "estimate", "95 % interval", "p", "Holm", "answer")
    text = markdown_table(header, [each.cells() for each in rows])
    if missing:
        text += f"\n\nFinished trainings of the other studies: {', '.join(missing)}."
    write_atomically(PACKED / "answers.md", f"{text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
