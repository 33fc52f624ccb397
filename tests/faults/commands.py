"""The commands that are attacked, as data, and the files that they read."""

import os
import shutil
from pathlib import Path

import keras

from keras_vaf.datasets import load
from keras_vaf.datasets.fetching import cache_folder
from keras_vaf_cli import main as run_command

_TABLE = "toy.csv --target y --task regression --folds 2 --epochs 1 --hidden 2"
COMMANDS = {
    "convert": "convert model.keras -o out.keras --force",
    "simplify": "simplify vaf.keras -o out.keras --force --tolerance 1",
    "freeze": "freeze vaf.keras -o out.keras --force",
    "inspect": "inspect vaf.keras --picture out.png --force",
    "predict": "predict best.keras toy.csv -o link.csv --force",
    "compare": f"compare {_TABLE} --activations relu",
    "search": f"search {_TABLE} --trials 2 --baselines none --output searched",
    "reproduce": "reproduce regression --quick --datasets servo --activations relu "
    "--data-dir data --output reproduced",
}
# Files that commands read, and patterns of those that a command has to write again.
READ = {
    "convert": ("model.keras",),
    "simplify": ("vaf.keras",),
    "freeze": ("vaf.keras",),
    "inspect": ("vaf.keras",),
    "predict": ("best.keras", "toy.csv"),
    "compare": ("toy.csv", "runs/*.jsonl"),
    "search": ("toy.csv", "searched/*.jsonl"),
}
_TRAINED = {
    "compare": ("runs/*.jsonl", "runs/**/best.keras"),
    "search": ("searched/*.jsonl", "searched/**/best.keras"),
    "reproduce": ("reproduced/servo/*.jsonl",),
}


def prepare(folder: Path) -> None:
    """Make the files that the commands read, and older files at their outputs."""
    folder.mkdir(parents=True)
    os.chdir(folder)
    layers = [keras.layers.Dense(3, "relu"), keras.layers.Dense(1)]
    keras.Sequential([keras.Input((4,)), *layers]).save("model.keras")
    rows = "".join(f"{i},{i % 7},{i % 3 + 0.5}\n" for i in range(40))
    Path("toy.csv").write_text("a,b,y\n" + rows, encoding="utf-8")
    load("servo")  # It fetches the files if they are not there.
    files = Path(os.environ.get("KERAS_VAF_DATA_DIR") or cache_folder())
    shutil.copytree(files / "servo", "data/servo")
    trained = (COMMANDS[name] for name in _TRAINED)
    for line in ("convert model.keras -o vaf.keras", *trained):
        if run_command(line.split()) != 0:
            raise ValueError(f"The preparation failed. Received: {line}")
    (best,) = Path("runs").rglob("best.keras")
    shutil.copy(best, "best.keras")
    for name in ("out.keras", "out.png", "out.csv"):
        shutil.copy("model.keras", name)
    Path("link.csv").symlink_to("out.csv")


def copy_for(name: str, scratch: Path) -> Path:
    """Copy the prepared files. Commands that train get something to train."""
    folder = scratch / "try"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(scratch / "prepared", folder, symlinks=True)
    for pattern in _TRAINED.get(name, ()):
        for path in folder.glob(pattern):
            path.unlink()
    return folder
