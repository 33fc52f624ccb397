"""`table`, the numbers of a comparison, and `text_of`, the table for readers."""

import json
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from pandas import DataFrame

from keras_vaf.experiments import results
from keras_vaf.experiments.arms import UNCHANGED
from keras_vaf.utils import deviation, markdown_table, readable

_MOST_LISTED = 10  # values of an option
CONSTANT = {"classification": "majority class", "regression": "constant (mean)"}
"""Names of the score and of the constant prediction, by task."""

_NUMBERS = ("mean", "deviation", "gain", "interval", "p", "parameters", "seconds")
_TESTED = (
    " Gain (with its 95% interval) and p (corrected resampled t-test) compare each "
    "activation with {} on the same folds. p (Holm) is corrected for the number of "
    "activations, the intervals are not."
)
_TWO_FOLDS = (
    " Gain compares each activation with {} on the same folds. Two folds cannot tell "
    "whether it is more than chance: use three or more."
)
_REFERENCES = (
    " The linear model and the trees of scikit-learn have their default settings; no "
    "test includes them."
)
_SAME_ROWS = (
    " All trainings are tested on the same rows: the intervals cover trainings, not "
    "other rows."
)
_UNSEEN = " They hold for rows that the given model has not seen in its training."


def table(found: DataFrame) -> DataFrame:
    """Return the numbers of a comparison, with one row for each model.

    - `mean`, `deviation`: Those of the test scores over seeds and folds: accuracy, or
      RMSE in units of the target. The deviation is the sample's (n - 1).
    - `gain`, `interval`: Mean improvement over the first activation, positive if it is
      better, and half of its 95% interval by the corrected t-test.
    - `p`: Its p-value with Holm's correction.
    - `parameters`: Number of trained parameters.
    - `seconds`: Duration of all trainings.

    The index has the titles. The last row is a constant prediction, which a comparison
    by `model` does not have. What a model does not have is NaN.

    Args:
        found: Records of one dataset by one recipe, from `records`.

    Raises:
        ValueError: If no record is that of a network, if the records have several
            datasets or recipes, or if activations have different folds.
    """
    shown = results.models_of(found).set_index("title")[[*_NUMBERS]].astype("float64")
    constant = found.drop_duplicates(results.CELL)["constant"]
    if task_of(found) in CONSTANT:
        last = {"mean": constant.mean(), "deviation": deviation(constant.tolist())}
        shown.loc[CONSTANT[task_of(found)]] = last
    return shown.rename_axis("activation")


def task_of(found: DataFrame) -> str:
    """Return the task of the records."""
    return found["task"].iloc[0]


def written(value: float, task: str, sign: str = "") -> str:
    """Return a score as text, with the sign of `readable`; "" for NaN."""
    text = f"{value:{sign}.4f}" if task == "classification" else readable(value, sign)
    return "" if math.isnan(value) else text


def p_value(p: float) -> str:
    """Return a p-value as text, such as "= 0.034" or "< 0.001"; "" for NaN."""
    text = f"= {p:.3f}" if p >= 0.001 else "< 0.001"
    return "" if math.isnan(p) else text


class Text(NamedTuple):
    """A table for readers: its title, cells and explanations."""

    title: str
    columns: list[str]
    lines: list[list[str]]
    notes: list[str]

    @property
    def markdown(self) -> str:
        """The table as Markdown, with a heading and a list of notes."""
        notes = "\n".join(f"- {note}" for note in self.notes)
        cells = markdown_table(self.columns, self.lines)
        return f"# {self.title}\n\n{cells}\n\n{notes}\n"


def text_of(found: DataFrame, epochs: int = 0) -> Text:
    """Return the `table` for readers, without columns whose cells are all empty.

    Args:
        found: Records, as for `table`.
        epochs: Largest number of epochs, for a note on the settings.
    """
    task, shown = task_of(found), table(found)
    lines = [
        {
            "activation": row.Index,
            "mean": written(row.mean, task),
            "deviation": written(row.deviation, task),
            "gain": _gain(row.gain, row.interval, task),
            "p (Holm)": p_value(row.p).removeprefix("= "),
            "parameters": f"{row.parameters:,.0f}".replace("nan", ""),
            "seconds": f"{row.seconds:.1f}".replace("nan", ""),
        }
        for row in shown.itertuples()
    ]
    columns = [name for name in lines[0] if any(line[name] for line in lines)]
    cells = [[line[name] for name in columns] for line in lines]
    (score, _), first = results.score_of(task), found.iloc[0]
    network = f"{'hidden layers ' * (task in CONSTANT)}{first['hidden']}"
    title = f"{score[0].upper()}{score[1:]} on {first['problem']}, {network}"
    notes = [*_notes(found), *([_settings(found, epochs)] if epochs else [])]
    return Text(title, columns, cells, notes)


def _gain(gain: float, half: float, task: str) -> str:
    """Return a gain with half its interval, which is never written as 0."""
    text = written(gain, task, "+")
    if not half > 0:  # all folds agree, or there are too few of them
        equal = half == 0 and ("equal" if gain == 0 else f"{text}, equal")
        return f"{equal} on all folds" if equal else text
    return f"{text} ± {written(half, task)}"


def option(found: DataFrame, name: str, values: Any, seconds: float) -> str:
    """Return an option of the command line, or an argument, with its cost in time."""
    minutes = max(1, round(seconds / 60))
    cost = f"about {minutes:,} minute{'s' * (minutes > 1)}"
    if task_of(found) not in CONSTANT:  # an own model
        text = f"{name}={values!r}"
        if name == "learning_rates":  # in a recipe, on the same rows
            folds = found["fold"].nunique()
            text = f"recipe=Recipe({text}, folds={folds}, test_size=0.2)"
        return f"`{text}` ({cost})"
    several = values if isinstance(values, tuple) else (values,)
    if len(several) > _MOST_LISTED:
        several = (*several[:3], "...", several[-1])
    text = ",".join(map(str, several))
    return f"`--{name.replace('_', '-')} {text}` ({cost})"


def _notes(found: DataFrame) -> list[str]:
    """Return the notes that explain the table, and those on odd trainings."""
    models = results.models_of(found)
    better = "Higher" if results.sign(task_of(found)) < 0 else "Lower"
    explained = f"{better} is better; the deviation is that of the test folds."
    if models["gain"].notna().any():
        tested = len(found.drop_duplicates(results.CELL)) > 2
        sentence = _TESTED if tested else _TWO_FOLDS
        explained += sentence.format(models["title"].iloc[0])
    if models["parameters"].isna().any():
        explained += _REFERENCES
    if found["share"].iloc[0] == 0:
        explained += _SAME_ROWS
    if UNCHANGED.key in models.index:
        explained += _UNSEEN
    seconds = "Seconds are those of all trainings of a line."
    return [explained, seconds, *_odd_trainings(found)]


def _settings(found: DataFrame, epochs: int) -> str:
    """Return how the networks of a table were trained."""

    def listed(name: str) -> str:
        values = sorted(found[name].dropna().unique())
        text = ", ".join(f"{value:g}" for value in values)
        return f"{name.replace('_', ' ')}{'s' * (len(values) > 1)} {text}"

    folds = found["fold"].nunique()
    vafs = found[found["arguments"].str.contains('"k"')].drop_duplicates(results.ARM)
    arguments = (
        f" {title}: {', '.join(f'{k} = {v}' for k, v in json.loads(text).items())}."
        for title, text in vafs[["title", "arguments"]].itertuples(index=False)
    )
    return (
        f"Trained with {folds} fold{'s' * (folds > 1)}, {listed('seed')}, at most "
        f"{epochs} epochs, and the {listed('learning_rate')}.{''.join(arguments)}"
    )


def _odd_trainings(found: DataFrame) -> Iterator[str]:
    """Yield notes on trainings that may distort a result, with remedies."""
    networks = found[found["learning_rate"].notna()]
    chosen = results.select(networks)
    selected = f"In {{}} of {len(chosen)} selected trainings"
    last = (chosen["best_epoch"] == chosen["epochs"]) & (chosen["epochs"] > 0)
    if last.any():
        epochs, cost = 2 * int(chosen["epochs"].max()), 2 * networks["seconds"].sum()
        yield (
            f"{selected.format(last.sum())}, the best epoch is the last one: train for "
            f"longer, {option(found, 'epochs', epochs, cost)}."
        )
    rates = sorted({*networks["learning_rate"]})
    edges = {"lowest": rates[0], "highest": rates[-1]} if len(rates) > 1 else {}
    for edge, rate in edges.items():
        if count := (chosen["learning_rate"] == rate).sum():
            more = 3.0 ** (-1 if edge == "lowest" else 1) * rate
            tried = tuple(sorted([*rates, float(f"{more:.1g}")]))
            cost = networks["seconds"].sum() / len(rates)
            yield (
                f"{selected.format(count)}, the learning rate is the {edge} that was "
                f"tried: try one more, {option(found, 'learning_rates', tried, cost)}."
            )
    if unfinished := chosen["val_loss"].isna().sum():
        yield f"{selected.format(unfinished)}, no epoch had a finite loss."
    if len(places := found["environment"].unique()) > 1:
        yield f"Trained in several environments: {'; '.join(places)}."
