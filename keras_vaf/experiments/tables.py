"""`table`, the numbers of a comparison, and `text_of` and `advice`, for readers."""

import json
import math
from typing import NamedTuple

from pandas import DataFrame

from keras_vaf.experiments import results
from keras_vaf.experiments.significance import LEVEL
from keras_vaf.utils import deviation, markdown_table, readable, require

SCORE = {"classification": "accuracy", "regression": "RMSE"}
CONSTANT = {"classification": "majority class", "regression": "constant (mean)"}
"""Names of the score and of the constant prediction, by task."""

_NUMBERS = ("mean", "deviation", "gain", "interval", "p", "parameters", "seconds")
_BETTER = {"classification": "higher", "regression": "lower"}
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


def table(found: DataFrame) -> DataFrame:
    """Return the numbers of a comparison, with one row for each model.

    - `mean`, `deviation`: Those of the test scores over seeds and folds: accuracy, or
      RMSE in units of the target. The deviation is the sample's (n - 1).
    - `gain`, `interval`: Mean improvement over the first activation, positive if it is
      better, and half of its 95% interval by the corrected t-test.
    - `p`: Its p-value with Holm's correction.
    - `parameters`: Number of trained parameters.
    - `seconds`: Duration of all trainings.

    The index has the titles. The last row is a constant prediction. What a model does
    not have is NaN.

    Args:
        found: Records of one dataset by one recipe, from `records`.

    Raises:
        ValueError: If no record is that of a network, if the records have several
            datasets or recipes, or if activations have different folds.
    """
    shown = results.models_of(found).set_index("title")[[*_NUMBERS]].astype("float64")
    constant = found.drop_duplicates(results.CELL)["constant"]
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


def text_of(found: DataFrame) -> Text:
    """Return the `table` for readers, without columns whose cells are all empty."""
    task, lines = task_of(found), []
    for row in table(found).itertuples():
        half = written(row.interval, task)
        lines.append(
            {
                "activation": row.Index,
                "mean": written(row.mean, task),
                "deviation": written(row.deviation, task),
                "gain": written(row.gain, task, "+") + (half and f" ± {half}"),
                "p (Holm)": p_value(row.p).removeprefix("= "),
                "parameters": f"{row.parameters:,.0f}".replace("nan", ""),
                "seconds": f"{row.seconds:.1f}".replace("nan", ""),
            }
        )
    columns = [name for name in lines[0] if any(line[name] for line in lines)]
    cells = [[line[name] for name in columns] for line in lines]
    score, first = SCORE[task], found.iloc[0]
    title = f"{score[0].upper()}{score[1:]} on {first['problem']}, hidden layers "
    return Text(title + first["hidden"], columns, cells, _notes(found))


def _notes(found: DataFrame) -> list[str]:
    """Return the notes that explain the table, and those on odd trainings."""
    models = results.models_of(found)
    better = _BETTER[task_of(found)].capitalize()
    explained = f"{better} is better; the deviation is that of the test folds."
    if models["gain"].notna().any():
        tested = len(found.drop_duplicates(results.CELL)) > 2
        sentence = _TESTED if tested else _TWO_FOLDS
        explained += sentence.format(models["title"].iloc[0])
    if models["parameters"].isna().any():
        explained += _REFERENCES
    networks = found[found["learning_rate"].notna()]
    chosen, rates = results.select(networks), networks["learning_rate"]
    edge = chosen["learning_rate"].isin([rates.min(), rates.max()])
    odd = {
        "the best epoch is the last one": chosen["best_epoch"] == chosen["epochs"],
        "the learning rate is the lowest or the highest that was tried": edge
        & (rates.nunique() > 1),
        "no epoch had a finite loss": chosen["val_loss"].isna(),
    }
    counted = [
        f"In {which.sum()} of {len(chosen)} selected trainings, {text}."
        for text, which in odd.items()
        if which.any()
    ]
    return [explained, "Seconds are those of all trainings of a line.", *counted]


def advice(found: DataFrame, following: str = "") -> str:
    """Return what to use, how sure that is, and what to try next, as two sentences."""
    models, constant = results.models_of(found), table(found).iloc[-1]
    task = task_of(found)
    network, key = models["parameters"].notna(), results.choose(models)
    errors = results.SIGN[task] * models["mean"]
    best = errors[[key, *models.index[~network]]].idxmin()
    if errors[best] >= results.SIGN[task] * constant["mean"]:
        return (
            "No model predicts the target better than a constant "
            f"({constant.name}, {SCORE[task]} {written(constant['mean'], task)}). "
            "Add columns that tell more about the target, or rows."
        )
    use = f"{models['title'][key]}: {_evidence(found, models[network], key)}."
    if best != key:
        rows = results.select(found).groupby(results.ARM)
        other = results.numbers_of(rows.get_group(best), rows.get_group(key))
        scores = [written(models["mean"][each], task) for each in (best, key)]
        low, high = (written(other[end], task) for end in ("low", "high"))
        return (
            f"Try {other['title']} first: {SCORE[task]} {scores[0]}, and {scores[1]} "
            f"with the network{low and f' (95% interval of the gain {low} to {high})'}."
            f" Among the networks, use {use}"
        )
    after = "Next, try a wider network: `--hidden 200,100`."
    if key == models.index[0]:
        seeds = ",".join(map(str, range(found["seed"].nunique() + 2)))
        after = f"To find smaller differences, add seeds: `--seeds {seeds}`."
    elif k := json.loads(key[1]).get("k"):  # a VAF
        after = f"Next, try a larger k: `--k {k + 2}`."
    return f"Use {use} {following or after}"


def _evidence(found: DataFrame, networks: DataFrame, key: tuple[str, str]) -> str:
    """Return how sure the choice among the activations is."""
    title, task, chosen = networks["title"].iloc[0], task_of(found), networks.loc[key]
    if chosen["p"] < LEVEL and chosen["gain"] > 0:
        size, low, high = map(readable, chosen[["gain", "low", "high"]])
        return (
            f"it is better than {title} ({SCORE[task]} {_BETTER[task]} by {size}, "
            f"95% interval {low} to {high}, corrected p {p_value(chosen['p'])})"
        )
    if len(networks) == 1:
        return "it is the only activation"
    seeds, folds = found["seed"].nunique(), found["fold"].nunique()
    words = f"these {folds} folds" if folds > 1 else "this fold"
    words += f" of {seeds} seeds" if seeds > 1 else ""
    # The gain that the folds could have shown for half of the activations, at the level
    # of Bonferroni's correction: the strictest step of Holm's.
    t = require("scipy.stats", extra="experiments").t(seeds * folds - 1)
    wider = t.isf(LEVEL / (len(networks) - 1) / 2) / t.isf(LEVEL / 2)
    gain = networks["interval"].median() * wider
    shown = f", which would have shown a gain of about {written(gain, task)}"
    return (
        f"no activation is better than {title} beyond chance on {words}"
        f"{shown if gain > 0 else ''}, and it is the cheapest"
    )
