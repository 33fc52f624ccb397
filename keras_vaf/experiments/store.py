"""`records`, which reads the records of studies as one pandas DataFrame."""

import contextlib
import json
import os
import platform
from pathlib import Path
from typing import Any

from pandas import DataFrame

KEY = ("recipe", "activation", "arguments", "learning_rate", "seed", "fold")
COLUMNS = (
    *("problem", "task", "hidden", "title", *KEY, "epochs", "best_epoch", "val_loss"),
    *("validation", "test", "constant", "share", "parameters", "seconds"),
    "environment",
)
_TEXTS = ("problem", "task", "hidden", "title", *KEY[:3], "environment")
_OPTIONAL = ("learning_rate", "epochs", "best_epoch", "val_loss", "parameters")


def records(path: str | os.PathLike[str], recipe: str = "") -> DataFrame:
    """Return all records of a folder, one row for each finished training.

    - `problem`, `task`: Name of the dataset, `"classification"` or `"regression"`.
    - `hidden`: Widths of the hidden layers, such as `"100-50"`.
    - `title`, `activation`, `arguments`: Title and name of the arm, and its arguments
      as JSON text.
    - `recipe`: Hash of data, backend and all settings of the training, which are in the
      file `recipe-HASH.json`.
    - `seed`, `fold`: Seed of the folds and weights, and number of the test fold.
    - `learning_rate`, `parameters`: Learning rate, and number of trained parameters.
    - `epochs`, `best_epoch`: Number of epochs, and the one of the lowest `val_loss`.
    - `val_loss`: Loss of the validation rows at the best epoch; NaN if no epoch had a
      finite one. A model of scikit-learn has NaN in these five columns.
    - `validation`, `test`: Accuracy (a share), or RMSE in units of the target; of the
      scaled target if the recipe has `targets="min-max"`.
    - `constant`: Test score of a constant prediction, in the same unit.
    - `share`: Share of the rows that are test rows.
    - `seconds`: Duration of the training. Networks that are trained together share the
      time equally.
    - `environment`: Versions and device.

    A line that an interruption left incomplete is omitted, so that its training is
    repeated. Of two records of the same training, the first is returned.

    Args:
        path: Folder of `.jsonl` files, such as the `output` of `compare`.
        recipe: Hash of the recipe whose records are read, by default of all.

    Raises:
        NotADirectoryError: If the path is that of a file.

    Example:

    >>> len(keras_vaf.experiments.records("runs"))
    0
    """
    if Path(path).is_file():
        raise NotADirectoryError(f"Expected a folder of records. Received: {path}")
    files = sorted(Path(path).glob("*.jsonl"))
    rows = (row for file in files for row in read_lines(file, recipe))
    found = DataFrame(filter(_is_record, rows), columns=list(COLUMNS))
    found = found.astype(dict.fromkeys(_OPTIONAL, "float64"))
    found = found[found["recipe"] == recipe] if recipe else found
    return found.drop_duplicates(list(KEY), ignore_index=True)


def _is_record(row: dict[str, Any]) -> bool:
    """Tell whether a line, which may be damaged, has a value of its kind everywhere."""
    return row.keys() == {*COLUMNS} and all(
        isinstance(value, str if name in _TEXTS else int | float)
        or (value is None and name in _OPTIONAL)
        for name, value in row.items()
    )


def append(folder: Path, row: dict[str, Any]) -> None:
    """Append a record to the file of this process, and wait until it is on disk."""
    text = json.dumps({name: row.get(name) for name in COLUMNS})
    with (folder / f"{platform.node()}-{os.getpid()}.jsonl").open("ab") as file:
        file.write(f"\n{text}\n".encode())  # the first ends an incomplete line
        file.flush()
        os.fsync(file.fileno())


def read_lines(path: Path, part: str = "") -> list[dict[str, Any]]:
    """Return the JSON objects of the complete lines of a file that have a text."""
    rows, lines = [], path.read_bytes().splitlines() if path.is_file() else ()
    for line in (each for each in lines if part.encode() in each):
        with contextlib.suppress(ValueError):  # an interruption cut this line off
            rows.append(json.loads(line))
    return [row for row in rows if isinstance(row, dict)]
