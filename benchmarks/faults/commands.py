"""The commands that are attacked, as data, and the files that they read."""

import os
import shutil
from pathlib import Path

import keras

from keras_vaf_cli import main as run_command

COMMANDS = {
    "convert": "convert model.keras -o out.keras --force",
    "simplify": "simplify vaf.keras -o out.keras --force --tolerance 1",
    "freeze": "freeze vaf.keras -o out.keras --force",
    "inspect": "inspect vaf.keras --picture out.png --force",
    "predict": "predict best.keras toy.csv -o out.csv --force",
    "merge": "merge runs -o merged",
    "compare": "compare toy.csv --target y --task regression --activations relu "
    "--folds 2 --epochs 1 --hidden 2",
}
"""Command lines, by name."""

READ = {
    "convert": "model.keras",
    "simplify": "vaf.keras",
    "freeze": "vaf.keras",
    "inspect": "vaf.keras",
    "predict": "toy.csv",
}
"""The file that a command reads, by name of the command."""


def prepare(folder: Path) -> None:
    """Make the files that the commands read, and older files at their outputs."""
    folder.mkdir(parents=True)
    os.chdir(folder)
    layers = [keras.layers.Dense(3, "relu"), keras.layers.Dense(1)]
    keras.Sequential([keras.Input((4,)), *layers]).save("model.keras")
    rows = "".join(f"{i},{i % 7},{i % 3 + 0.5}\n" for i in range(20))
    Path("toy.csv").write_text("a,b,y\n" + rows, encoding="utf-8")
    for line in ("convert model.keras -o vaf.keras", COMMANDS["compare"]):
        if run_command(line.split()) != 0:
            raise ValueError(f"The preparation failed. Received: {line}")
    (best,) = Path("runs").rglob("best.keras")
    shutil.copy(best, "best.keras")
    for name in ("out.keras", "out.png", "out.csv"):
        shutil.copy("model.keras", name)


def copy_for(name: str, prepared: Path, folder: Path) -> None:
    """Copy the prepared files. `compare` gets something to train."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(prepared, folder)
    if name == "compare":
        for path in (*folder.rglob("seed-0-fold-01.json"), *folder.rglob("best.keras")):
            path.unlink()
        shutil.copy(prepared / "best.keras", folder / "best.keras")
