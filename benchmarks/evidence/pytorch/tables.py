"""Show accuracies and losses behind the questions S, L1, L2, and C to C3.

`python -m benchmarks.evidence.pytorch.tables` reads the packed records and writes
`sensor_80.md` and `sensor_20.md`, one for each number of labels, and
`sensor_controls.md`, `language.md`, `images.md`, `images_fashion_mnist.md`,
`images_all.md` and `images_cnet_a.md` to `docs/reports/evidence`. What is not part of
the questions is exploratory.
"""

from __future__ import annotations

import itertools
import sys

import pandas as pd

from benchmarks.evidence.answer import corrected, paired
from benchmarks.evidence.answers import PACKED, packed_frame
from benchmarks.evidence.seed_answers import tested_losses, tested_scores
from keras_vaf.utils import markdown_table, write_atomically

METHODS = {
    "nothing": "nothing",
    "histogram": "histogram matching, without labels",
    "affine": "scale and shift of the input",
    "vaf-3": "VAF on the input, k = 3",
    "vaf-7": "VAF on the input, k = 7",
    "vaf-histogram": "VAF on the input, starts at the histogram's map",
    "vaf-layers": "VAFs in the layers",
    "normalization": "normalization",
    "biases": "biases",
    "first layer": "first layer",
    "head": "last layer",
    "lora": "LoRA of rank 1",
    "everything": "all weights",
}
CURVES = {
    "inversion": "inversion",
    "negative": "(1 - x)²",
    "gamma": "x⁴",
    "root": "x^¼",
    "logarithm": "logarithm",
    "saturation": "saturation",
    "solarization": "solarization",
}


def accuracy_table(frame: pd.DataFrame) -> str:
    """Return mean accuracies over seeds, and half their 95 % intervals.

    Args:
        frame: The trainings with one number of labels.
    """
    lines = []
    for method, title in METHODS.items():
        rows = frame[frame.method == method]
        cells = [title, f"{rows.numbers.iloc[0]:,}"]
        for curve in CURVES:
            found = paired("", rows[rows.curve == curve].accuracy)
            half = found.interval[1] - found.estimate
            cells.append(f"{found.estimate:.3f} ± {half:.3f}")
        lines.append(cells)
    columns = ["what is trained", "numbers", *CURVES.values()]
    return markdown_table(columns, lines, text_columns=1)


CONTROLS = {"power": "power", "power-affine": "power, scale and shift"}
ARMS = {
    "silu": "SiLU",
    "silu-long": "SiLU, as much time as the VAF from SiLU",
    "vaf-silu": "VAF from SiLU",
    "gelu": "GELU",
    "gelu-long": "GELU, as much time as the VAF from GELU",
    "vaf-gelu": "VAF from GELU",
    "relu": "ReLU",
    "relu-squared": "ReLU squared",
    "xielu": "xIELU",
}
IMAGE_ARMS = {
    "relu": "ReLU",
    "relu-1.5": "1.5 times ReLU",
    "silu": "SiLU",
    "vaf-relu": "VAF from ReLU, k = 3",
    "vaf-silu": "VAF from SiLU, k = 3",
    "vaf-random": "VAF, random start, g = relu, k = 5",
}
FIXED = ("relu", "relu-1.5", "silu")


def control_table(frame: pd.DataFrame) -> str:
    """Return what the VAF on the input with k = 7 gains over a trained power.

    Args:
        frame: The trainings with 80 labels, those of the controls included.
    """
    accuracy = frame.pivot(index=["curve", "seed"], columns="method", values="accuracy")
    pairs = list(itertools.product(CURVES, CONTROLS))
    gains = accuracy[list(CONTROLS)].rsub(accuracy["vaf-7"], axis=0)
    found = corrected([paired("", gains.loc[curve, each]) for curve, each in pairs])
    lines = []
    for (curve, control), answer in zip(pairs, found, strict=True):
        means = accuracy.loc[curve, ["vaf-7", control]].mean()
        names = [CURVES[curve], CONTROLS[control]]
        lines.append([*names, *(f"{each:.3f}" for each in means), *answer.cells()[1:5]])
    columns = ["curve", "control", "VAF, k = 7", "control", "difference"]
    columns += ["95 % interval", "p", "p (Holm)"]
    return markdown_table(columns, lines, text_columns=2)


def mean_cell(differences: pd.Series, digits: int) -> str:
    """Return the mean of the differences of all seeds and its 95 % interval.

    Args:
        differences: One difference for each seed.
        digits: Number of decimals.
    """
    found = paired("", differences)
    # "z" writes what is rounded to -0 as 0.
    low, high = (f"{each:z.{digits}f}" for each in found.interval)
    return f"{found.estimate:z.{digits}f} ({low} to {high})"


def loss_table(frame: pd.DataFrame) -> str:
    """Return losses, and differences in percent to the two smooth fixed functions.

    The last column is the difference of a VAF to the function at which it starts, if
    this was trained for as much time. An activation whose trainings are not finished
    is left out.

    Args:
        frame: The trainings of the transformer.
    """
    losses, lines = tested_losses(frame).dropna(axis=1), []
    fixed = [each for each in ("silu", "gelu") if each in losses]
    for arm in (each for each in ARMS if each in losses):
        tuned = frame[(frame.seed == 0) & (frame.arm == arm)].sort_values("rate")
        cells = [ARMS[arm], *(f"{each:.4f}" for each in tuned.validation)]
        cells += [""] * (4 - len(cells)) + [f"{losses[arm].mean():.4f}"]
        longer = f"{arm.removeprefix('vaf-')}-long" if arm.startswith("vaf-") else ""
        for each in (*fixed, longer):
            known = each in losses and each != arm
            ratio = losses[arm] / losses[each] if known else None
            cells.append("" if ratio is None else mean_cell(100 * (ratio - 1), 2))
        lines.append(cells)
    rates = [f"validation, {rate:g}" for rate in sorted(frame.rate.unique())]
    columns = ["activation", *rates, "test, five seeds"]
    columns += [f"difference to {ARMS[each]}, %" for each in fixed]
    columns.append("at equal time, %")
    return markdown_table(columns, lines, text_columns=1)


def image_table(frame: pd.DataFrame) -> str:
    """Return accuracies and losses, and differences in accuracy to fixed functions.

    An activation whose trainings are not finished is left out.

    Args:
        frame: The trainings of one network on one dataset.
    """
    scores = tested_scores(frame).dropna(axis=1)
    accuracy = 100 * scores.accuracy
    lines, fixed = [], [each for each in FIXED if each in accuracy]
    for arm in (each for each in IMAGE_ARMS if each in accuracy):
        tuned = frame[(frame.seed == 0) & (frame.arm == arm)].sort_values("rate")
        own = paired("", accuracy[arm])
        half = own.interval[1] - own.estimate
        cells = [IMAGE_ARMS[arm]]
        cells += [f"{100 * each[0]:.1f}" for each in tuned.validation]
        cells += [f"{own.estimate:.1f} ± {half:.1f}", f"{scores.loss[arm].mean():.2f}"]
        cells += [
            "" if arm == each else mean_cell(accuracy[arm] - accuracy[each], 1)
            for each in fixed
        ]
        lines.append(cells)
    rates = [f"validation, {rate:g}" for rate in sorted(frame.rate.unique())]
    columns = ["activation", *rates, "test, three seeds", "test loss, nats"]
    columns += [f"difference to {IMAGE_ARMS[each]}" for each in fixed]
    return markdown_table(columns, lines, text_columns=1)


def main() -> int:
    """Write the tables."""
    frame = packed_frame("sensor")
    for labels, rows in frame.groupby("labels"):
        table = f"{accuracy_table(rows)}\n"
        write_atomically(PACKED / f"sensor_{labels}.md", table)
    controls = packed_frame("sensor-controls")
    both = pd.concat([frame[frame.labels == 80], controls])
    write_atomically(PACKED / "sensor_controls.md", f"{control_table(both)}\n")
    frame = packed_frame("language", "language-others")
    write_atomically(PACKED / "language.md", f"{loss_table(frame)}\n")
    reduced = packed_frame("images", "images-others")
    for name, frame in (
        ("images", reduced[reduced.dataset == "cifar10"]),
        ("images_fashion_mnist", reduced[reduced.dataset == "fashion_mnist"]),
        ("images_all", packed_frame("images-all")),
        ("images_cnet_a", packed_frame("images-cnet-a")),
    ):
        write_atomically(PACKED / f"{name}.md", f"{image_table(frame)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
