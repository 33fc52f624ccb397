"""Laws of tables, over tables of every form, kind and source.

A form says how a cell is written, and which number the cell stands for.
"""

import datetime
import decimal
import io

import keras
import numpy as np
import pandas
import pytest

from keras_vaf.datasets import (
    Preprocessing,
    TableEncoder,
    TableError,
    predict_table,
    read_table,
)
from keras_vaf.datasets.tables.encoder import with_encoder
from keras_vaf.datasets.tables.files import open_table
from keras_vaf.models import mlp

ROWS = 60
START = datetime.datetime(2024, 5, 1, 8)


def comma(text):
    return text.translate(str.maketrans(",.", ".,"))


def date(form, **step):
    def cells(rng):
        moments = [START + n * datetime.timedelta(**step) for n in range(ROWS)]
        days = [(m - datetime.datetime(1970, 1, 1)) / datetime.timedelta(1) for m in moments]
        return days, [form(m) if callable(form) else m.strftime(form) for m in moments]

    return cells


def number(form, make):
    def cells(rng):
        values = [float(v) for v in make(rng)]
        return values, [form(v) for v in values]

    return cells


def kinds(words):
    def cells(rng):
        draw = rng.permutation(np.arange(ROWS) % len(words))
        return None, [words[n] for n in draw]

    return cells


def normal(rng):
    return rng.normal(0, 500, ROWS).round(2)


def typed(value):
    return value  # a number of a workbook, of Parquet and of pandas


N = np.arange(ROWS)
FORMS = {
    "plain": number(typed, normal),
    "integers": number(typed, lambda rng: rng.permutation(ROWS)),
    "unix": number(typed, lambda rng: 1_700_000_000 + N),
    "hundredths": number(typed, lambda rng: 1.7e9 + N / 100),
    "billions": number(typed, lambda rng: 1e9 + N / 2),
    "minutes": number(typed, lambda rng: 1_700_000_000 + 300 * N),
    "narrow": number(typed, lambda rng: 1e6 + rng.normal(0, 0.01, ROWS).round(6)),
    "text": number(str, normal),
    "exponents": number("{:.6e}".format, lambda rng: rng.normal(0, 1e9, ROWS).round(0)),
    "comma": number(lambda v: comma(f"{v}"), normal),
    "german": number(lambda v: comma(f"{v:,.2f}"), lambda rng: 1e5 + normal(rng)),
    "euros": number(lambda v: comma(f"{v:,.2f} ") + "€", normal),
    "dollars": number("${:,.2f}".format, lambda rng: 5000 + np.abs(normal(rng))),
    "per cent": number("{:.1f} %".format, lambda rng: rng.integers(0, 99, ROWS)),
    "days": date("%Y-%m-%d", days=1),
    "seconds": date("%Y-%m-%d %H:%M:%S", seconds=1),
    "short days": date(lambda m: f"{m.year}-{m.month}-{m.day}", days=3),
    "german days": date("%d.%m.%Y", days=5),
    "afternoons": date("%m/%d/%Y %I:%M %p", hours=31),
    "months": date("%b %d %Y", days=9),
    "long months": date("%B %d, %Y", days=9),
    "colours": kinds(["red", "green", "blue"]),
    "countries": kinds(["NA", "ZA", "DE"]),
    "signs": kinds(["+", "-", "n.a."]),
    "codes": kinds(["01067", "10115", "80331"]),
    "truth": kinds(["yes", "no"]),
    "rare": kinds(["seen", "lost", *[""] * 8]),
}
SOURCES = ("csv", "semicolons", "german", "excel sep", "title", "blanks", "quoted")
SOURCES += ("xlsx", "parquet", "pandas")
