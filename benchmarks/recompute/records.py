"""`read`, which reads records, and how trainings are selected among them."""

import functools
from pathlib import Path

import pandas as pd
from pandas import DataFrame

ROOT = Path(__file__).parents[2]
Names = list[str]
Lines = list[Names]
BY_RATE = ["validation", "rate"]


@functools.cache
def read(*names: str) -> DataFrame:
    paths = [ROOT / f"docs/reports/{name}.csv.xz" for name in names]
    return pd.concat([pd.read_csv(path, skiprows=1) for path in paths])


def best(frame: DataFrame, keys: list[str], rank: list[str]) -> DataFrame:
    """Return the row of each group with the smallest rank; of equal ones the first."""
    return frame.sort_values(rank, kind="stable").drop_duplicates(keys)


def best_mean(frame: DataFrame, keys: Names, among: Names, rank: Names) -> DataFrame:
    """Return the rows with those values of `among` whose mean rank is smallest."""
    means = frame.groupby([*keys, *among], sort=False)[rank].mean().round(12)
    return frame.merge(best(means.reset_index(), keys, rank)[[*keys, *among]])


def wide(frame: DataFrame, rows: str, value: str) -> DataFrame:
    return frame.pivot_table(value, rows, "activation")


def lines(frame: DataFrame, form: str = "{}") -> Lines:
    cells = frame.map(lambda each: each if isinstance(each, str) else form.format(each))
    return cells.reset_index().astype(str).to_numpy().tolist()
