"""`on_rule`, what choosing by validation scores is worth, as `compare` chooses."""

from collections.abc import Iterator

import numpy as np
from pandas import DataFrame

from benchmarks.recompute.records import Lines, read
from benchmarks.recompute.statistics import t_test

FOUR = ["relu", "gelu", "silu", "tanh"]
ARMS = [*FOUR, "prelu", "vaf-relu", "vaf-silu", "vaf-gelu"]
HALVES = [(range(5), range(5, 10)), (range(5, 10), range(5))]
LARGEST = ["yacht", "puma32h"]  # gains among the regressions
# Networks with ReLU of as many parameters as those with a VAF, and these.
EQUAL = {"51-26": "50-25", "101-50": "100-50", "26": "25", "27": "25"}
EQUAL |= {"101": "100", "102": "100"}


def selected(frame: DataFrame, task: str = "regression") -> DataFrame:
    """Return the selected records, in the form of those of `keras_vaf.experiments`."""
    from keras_vaf.experiments.results import select  # the only use of the package

    frame = frame[frame.activation.isin(ARMS)].reset_index(drop=True)
    frame = frame.rename(columns={"rate": "learning_rate"})
    order = frame.activation.map(ARMS.index).argsort(kind="stable")
    names = {"val_loss": "validation_loss", "parameters": "parameters"}
    more = {name: frame.get(own, frame.validation) for name, own in names.items()}
    words = {"task": task, "arguments": "{}", "share": 0.1, "title": frame.activation}
    hidden = frame.reindex(columns=["hidden"], fill_value="").hidden
    group = frame.dataset + hidden.replace(EQUAL)
    words |= {"recipe": group, "seed": frame.get("seed", 0)}
    return select(frame.assign(**more, **words).iloc[order].reset_index(drop=True))


def chosen(rows: DataFrame, arms: list[str]) -> str:
    """Return the name of the network that `compare` chooses."""
    from keras_vaf.experiments.results import choose, numbers_of

    groups = rows[rows.activation.isin(arms)].groupby("activation", sort=False)
    models = {(name, "{}"): numbers_of(own) for name, own in groups}
    return choose(DataFrame.from_dict(models, "index"))[0]


def scores(rows: DataFrame, fixed: list[str], pairs: list) -> Iterator[list]:
    """Yield test scores of the choice, of that among fixed functions, and of ReLU."""
    for (name, *_), own in rows.groupby(["dataset", "recipe", "seed"]):
        for deciding, judging in pairs:
            tests = own[own.fold.isin(judging)].groupby("activation").test.mean()
            decided = own[own.fold.isin(deciding)]
            names = chosen(decided, ARMS), chosen(decided, fixed), "relu"
            yield [name, *tests[[*names]]]


def worth(rows: DataFrame, fixed: list[str], pairs: list) -> DataFrame:
    """Return the mean differences of each dataset; of errors, those of logarithms."""
    columns = ["dataset", "best", "fixed", "relu"]
    found = DataFrame(scores(rows, fixed, pairs), columns=columns).set_index("dataset")
    regression = rows.task.iloc[0] == "regression"
    found = np.log(found) if regression else 100 * found
    found = found.sub(found.relu, axis="index").groupby("dataset").mean()
    return found.assign(both=found.best - found.fixed)


def on_rule() -> Lines:
    five, each = ARMS[:5], [([fold], [fold]) for fold in range(10)]
    tuned = selected(read("evidence/regressions", "evidence/catalogue"))
    seeds = read("evidence/few-units").query("question == 0 and units == 100")
    seeds = selected(seeds[seeds.rate == 0.001].assign(fold=seeds.seed, seed=0))
    classes = read("reproduction/classification-ours")
    halves, folds = worth(tuned, five, HALVES), worth(tuned, five, each)
    found = {
        "24 tuned regressions, half of the folds decides": halves,
        "the same without yacht and puma32h": halves.drop(LARGEST),
        "24 tuned regressions, each fold decides": folds,
        "the same without the two": folds.drop(LARGEST),
        "30 other tables, untuned, each seed decides": worth(seeds, five, each[:5]),
    }
    rows = [[name, *cells(own)] for name, own in found.items()]
    last = worth(selected(classes, "classification"), FOUR, HALVES)
    return [*rows, ["11 classifications, points of accuracy", *cells(last, ".3f")]]


def cells(found: DataFrame, form: str = "") -> Iterator[str]:
    """Yield the intervals of the best, the fixed ones and both."""
    for name in ("best", "fixed", "both"):
        own = t_test(found[name])
        yield own.text(form) if form else own.exp().text(".3f")
