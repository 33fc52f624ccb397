"""The answers that compare trainings with the same seeds: S, M, O, L and C."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmarks.evidence.answer import Answer, Records, corrected, overall, paired
from keras_vaf.experiments.results.ratio import Ratio

CHOICE_SEEDS = (100, 101, 102)
"""Seeds that select learning rates and frequencies on the map."""

LABELLED = 5_000
"""Rows of the last five labellings, of which the wrong ones are counted."""


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


def periodic(records: Records) -> list[Answer]:
    """Answer M1, M2 and M3 from the two tasks of the map, at equal time."""
    frame = pd.DataFrame(list(records))
    labels = frame[frame.dataset == "mnist"]
    tried = labels.seed.isin(CHOICE_SEEDS)
    pairs = {"M1": tuned_frequency(labels[tried]), "M2": "sin"}
    scored = frame[~frame.seed.isin(CHOICE_SEEDS)]
    labels = scored[scored.dataset == "mnist"]
    found = [seed_ratio(name, labels, "vaf-1", arm) for name, arm in pairs.items()]
    found = [
        replace(each, confirmed=each.estimate < 1, refuted=each.interval[0] > 0.95)
        for each in found
    ]
    functions = [
        seed_ratio(f"M3, {name}", scored[scored.dataset == name], "vaf-3", "sin")
        for name in ("beats", "chirp", "scales")
    ]
    functions = [
        replace(
            each,
            confirmed=each.estimate < 1,
            refuted=each.estimate > 1 and each.corrected < 0.05,
        )
        for each in corrected(functions)
    ]
    better = [each.confirmed for each in functions]
    texts = [each.text for each in functions]
    significant = all(better) and texts.count("confirmed") > 1
    return [*found, *functions, overall("M3", significant, "refuted" in texts)]


def tuned_frequency(tried: pd.DataFrame) -> str:
    """Return the sine whose frequency has the smallest error on the seeds for choice.

    Args:
        tried: The trainings with these seeds on one dataset.
    """
    sines = tried[tried.arm.str.startswith("sin")]
    means = sines.groupby(["arm", "rate"]).validation.mean()
    return str(means.idxmin()[0])


def random_functions(records: Records) -> list[Answer]:
    """Answer O1 and O2: VAFs with g = sin against a tuned sine on random functions."""
    errors = function_errors(pd.DataFrame(list(records)))
    found = []
    for name, arm in {"O1": "vaf-1", "O2": "vaf-3"}.items():
        ratio = Ratio.of(errors[arm], errors["sin"])
        low, high = ratio.interval()
        better, refuted = ratio.mean < 1, low > 0.95
        found.append(Answer(name, ratio.mean, (low, high), ratio.p, better, refuted))
    return corrected(found)


def function_errors(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the error of the tuned sine and of each VAF on each random function.

    It is the geometric mean over the scored seeds. An error that is not finite counts
    as that of the constant prediction, 1.

    Args:
        frame: The trainings, whose start, factor and learning rate three seeds select.
    """
    frame = frame.assign(family=frame.arm.str.extract("^(sin|vaf-[0-9])")[0])
    frame = frame.assign(error=frame.error.replace(math.inf, 1.0))
    keys = ["dataset", "family", "arm", "rate"]
    tried = frame.seed.isin(CHOICE_SEEDS)
    means = frame[tried].groupby(keys).validation.mean().sort_values(kind="stable")
    chosen = means.reset_index().drop_duplicates(["dataset", "family"])[keys]
    scored = frame[~tried].merge(chosen)
    logs = np.log(scored.error).groupby([scored.dataset, scored.family]).mean()
    return np.exp(logs).unstack()


def seed_ratio(name: str, frame: pd.DataFrame, arm: str, control: str) -> Answer:
    """Return the ratio of the errors of two activations over the same seeds.

    No wrong row counts as half a wrong row, so that its logarithm is finite.
    """
    errors = frame.pivot(index="seed", columns="arm", values="error")
    errors = errors.replace(0, 0.5 / LABELLED)
    answer = paired(name, np.log(errors[arm] / errors[control]))
    low, high = answer.interval
    return replace(
        answer,
        name=f"{name}, against {control}",
        estimate=math.exp(answer.estimate),
        interval=(math.exp(low), math.exp(high)),
    )


def language(records: Records) -> list[Answer]:
    """Answer L1 and L2: a VAF from SiLU against SiLU at equal steps and equal time."""
    losses = tested_losses(pd.DataFrame(list(records)))
    found = []
    for name, control in {"L1": "silu", "L2": "silu-long"}.items():
        answer = paired(name, losses["vaf-silu"] - losses[control])
        refuted = answer.interval[0] > -0.001 * losses[control].mean()
        confirmed = answer.estimate < 0
        found.append(replace(answer, confirmed=confirmed, refuted=refuted))
    return found


def tested_losses(frame: pd.DataFrame) -> pd.DataFrame:
    """Return test losses by seed and arm, at the learning rate that seed 0 selects.

    Args:
        frame: The trainings of the transformer.
    """
    tuning = frame[frame.seed == 0].sort_values("validation")
    rates = tuning.drop_duplicates("arm").set_index("arm").rate
    for arm in {*frame.arm} - {*rates.index}:  # of a fixed function, for longer
        rates[arm] = rates[arm.removesuffix("-long")]
    tested = frame[(frame.seed > 0) & (frame.rate == frame.arm.map(rates))]
    return tested.pivot(index="seed", columns="arm", values="test")


def images(records: Records) -> Answer:
    """Answer C: a VAF from ReLU against ReLU in cnet_B on CIFAR-10, in accuracy."""
    frame = pd.DataFrame(list(records))
    return _gain("C", "vaf-relu", tested_scores(frame[frame.dataset == "cifar10"]))


def all_images(records: Records) -> list[Answer]:
    """Answer C2 and C3: two VAFs against ReLU on all training images of CIFAR-10."""
    scores = tested_scores(pd.DataFrame(list(records)))
    pairs = ("C2", "vaf-relu"), ("C3", "vaf-random")
    return [_gain(name, arm, scores) for name, arm in pairs]


def _gain(name: str, arm: str, scores: pd.DataFrame) -> Answer:
    """Answer whether a VAF has more than 5 points more accuracy than ReLU."""
    answer = paired(name, scores.accuracy[arm] - scores.accuracy["relu"])
    low, high = answer.interval
    return replace(answer, confirmed=low > 0.05, refuted=high < 0.05, needs_p=False)


def tested_scores(frame: pd.DataFrame) -> pd.DataFrame:
    """Return test scores by seed, at the learning rates that seed 0 selects.

    Args:
        frame: The trainings of cnet_B on one dataset.
    """
    tuning = frame[frame.seed == 0].copy()
    tuning["rank"] = [(-accuracy, loss) for accuracy, loss in tuning.validation]
    rates = tuning.sort_values("rank").drop_duplicates("arm").set_index("arm").rate
    tested = frame[frame.rate == frame.arm.map(rates)]
    found = tested.assign(
        accuracy=[accuracy for accuracy, _ in tested.test],
        loss=[loss for _, loss in tested.test],
    )
    return found.pivot(index="seed", columns="arm", values=["accuracy", "loss"])
