"""List or fetch the paper's datasets.

Fetch datasets of the paper from their publishers, check the files and read them.
Without names, list all datasets next to those of the paper.

examples:
  keras-vaf data
  keras-vaf data wine yacht
"""

from typing import TYPE_CHECKING, Any

from keras_vaf_cli.shared import pick, say

if TYPE_CHECKING:
    from keras_vaf.datasets import Size

ARGUMENTS = {"": ("names", "--data-dir")}


def run(given: dict[str, Any]) -> None:
    """Fetch the datasets, or print the list."""
    from keras_vaf.datasets import CATALOGUE, find, load

    if "names" in given:
        for name in [find(name).name for name in given["names"]]:
            dataset = load(name, **pick(given, "data_dir"))
            say(f"{dataset} from {dataset.source}")
        return
    if "data_dir" in given:
        raise ValueError("`--data-dir` is for datasets that are named.")
    rows = [("name", "task", "rows, inputs, classes", "in the paper", "difference")]
    for entry in CATALOGUE:
        size = "the same" if entry.paper_size is None else _size(entry.paper_size)
        paper = f"{entry.paper_name}: {size}"
        rows += [(entry.name, entry.task, _size(entry.size), paper, entry.difference)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        say("  ".join(map(str.ljust, row, widths)).rstrip())


def _size(size: "Size") -> str:
    numbers = size.rows, size.inputs, size.classes
    return ", ".join(str(number) for number in numbers if number is not None)
