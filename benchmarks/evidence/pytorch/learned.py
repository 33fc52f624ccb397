"""Show what the VAFs of cnet_B have become.

`python -m benchmarks.evidence.pytorch.learned RUNS` reads the last states of the
trainings on CIFAR-10 from the folder of records, and writes the values of the learned
functions, `images_learned.json`, and a table, `images_learned.md`, to
`docs/reports/evidence`.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.evidence.answers import PACKED
from benchmarks.evidence.pytorch.images import (
    DATASETS,
    EPOCHS,
    FIRST,
    RATES,
    REDUCED,
    REGISTERED,
    create,
    selected,
)
from benchmarks.evidence.pytorch.tables import IMAGE_ARMS
from benchmarks.evidence.pytorch.torch_study import restore
from benchmarks.evidence.records import Records
from keras_vaf.layers import VAFActivation
from keras_vaf.utils import markdown_table, write_atomically

POINTS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)


def functions(arm: str, state: dict[str, Any]) -> Iterator[list[float]]:
    """Yield the values of the VAF of each layer at `POINTS`.

    Args:
        arm: A key of `images.ARMS`.
        state: What `Checkpoint` has written.
    """
    network = create(arm, (3, 32, 32), seed=0)
    restore(network, state["network"])
    for layer in network.layers:
        if isinstance(layer, VAFActivation):
            y = layer.function(np.array(POINTS, "float32"))
            yield np.asarray(y, "float64").round(4).tolist()


def learned(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the functions of finished trainings at the selected learning rates.

    Args:
        folder: The folder of records, which has the states.
    """
    arms = (each for each in IMAGE_ARMS if each.startswith("vaf"))
    for arm, seed in itertools.product(arms, range(REDUCED.seeds)):
        pair = DATASETS[0], arm
        study = "images" if pair in REGISTERED else "images-others"
        records = Records(folder / study)
        if records.read(*pair, RATES[0], FIRST) is None:
            continue
        rate = selected(records, *pair)
        path = folder / f"{DATASETS[0]}_{arm}_{rate:g}_{seed}.pt"
        state = torch.load(path, weights_only=True) if path.exists() else {}
        if state.get("numbers") != {"epoch": EPOCHS}:
            continue
        for layer, values in enumerate(functions(arm, state), start=1):
            yield {"arm": arm, "seed": seed, "layer": layer, "values": values}


def learned_table(rows: list[dict[str, Any]]) -> str:
    """Return the values of the learned functions, rounded.

    Args:
        rows: Result of `learned`.
    """
    lines = []
    for each in pd.DataFrame(rows).sort_values(["layer", "arm", "seed"]).itertuples():
        cells = [str(each.layer), IMAGE_ARMS[each.arm], str(each.seed)]
        lines.append([*cells, *(f"{value:.2f}" for value in each.values)])
    columns = ["layer", "activation", "seed", *(f"f({x:g})" for x in POINTS)]
    return markdown_table(columns, lines, text_columns=2)


def main() -> int:
    """Write the values and the table."""
    rows = list(learned(Path(sys.argv[1])))
    write_atomically(PACKED / "images_learned.json", f"{json.dumps(rows)}\n")
    write_atomically(PACKED / "images_learned.md", f"{learned_table(rows)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
