"""Predict the rows of a table with a network of compare or search.

Predict the rows of a table with the best.keras of `keras-vaf compare` or `keras-vaf
search`. If a folder is given in its place, the newest best.keras in it is used. The
table must have the columns of the training table, in any order; the target may be
missing. The output is a copy of the table with additional columns: the prediction in
the units of the target, or the class and the probability of each class. The cells of a
CSV file are written as they were read.

examples:
  keras-vaf predict runs new.csv -o predicted.csv
  keras-vaf predict runs/houses-1a2b3c4d/best.keras new.csv -o predicted.csv
"""

import sys
from pathlib import Path
from typing import Any

from keras_vaf_cli.options import FILE, FORMAT
from keras_vaf_cli.shared import pick, say

ARGUMENTS = {
    "": ("model", "table", "-o --output", "--force"),
    "format of the table": FILE,
}


def run(given: dict[str, Any]) -> None:
    """Write the predictions."""
    from keras_vaf.datasets import predict_table
    from keras_vaf.models.files import load_model
    from keras_vaf.utils import atomic_path, check_output

    path, table, force = Path(given["output"]), Path(given["table"]), "force" in given
    best, options = _newest(Path(given["model"])), {"na": (), **pick(given, *FORMAT)}
    check_output(path, force, (best, table))
    model = load_model(best)
    with atomic_path(path, force=force) as temporary:
        frame = predict_table(model, table, output=temporary, **options)
    for note in frame.attrs["notes"]:
        say(note, file=sys.stderr)
    rows = "1 row" if len(frame) == 1 else f"{len(frame):,} rows"
    say(f"Predicted {rows} with {best}. Written to {path}.")


def _newest(path: Path) -> Path:
    """Return a file, or the newest best.keras in a folder."""
    found = [*path.rglob("best.keras")] if path.is_dir() else [path]
    if not found:
        raise ValueError(f"The folder {path} has no best.keras.")
    return max(found, key=lambda file: file.stat().st_mtime if found[1:] else 0)
