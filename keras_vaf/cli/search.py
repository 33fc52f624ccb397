"""`keras-vaf search`: find the VAF that fits a dataset."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from keras_vaf.cli.shared import add_command, add_data_dir, add_hidden, print_table
from keras_vaf.tuners import ranked, read_trials
from keras_vaf.tuners.dataset_search import TRIALS, DatasetSearch, write_results
from keras_vaf.tuners.results import TrialResult, names_of
from keras_vaf.tuners.resumable.progress import duration
from keras_vaf.tuners.search_settings import TUNERS, Settings
from keras_vaf.utils import require

_DESCRIPTION = """\
Search k, g, sharing and initialization of a VAF on a dataset. Each trial is scored by
K folds; a fifth of the rows takes no part and tests the winner at the end. Called
again, the command goes on where it was.
"""
_EXAMPLES = """\
examples:
  keras-vaf search wine --trials 30 --output runs/search-wine
  keras-vaf search --resume runs/search-wine
  keras-vaf search show runs/search-wine
"""
_SHOWN = 15


def add_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add `search` to the commands of `keras-vaf`."""
    parser = add_command(
        subparsers,
        "search",
        "search the hyper-parameters of a VAF on a dataset",
        _DESCRIPTION,
        _EXAMPLES,
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="DATASET | show FOLDER",
        help="name of a dataset to search on, or a search to show",
    )
    parser.add_argument(
        "--resume", metavar="FOLDER", help="go on with the search in this folder"
    )
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        help="where everything is written (default: runs/search-DATASET)",
    )
    add_data_dir(parser)
    _add_search_options(parser.add_argument_group("the search"))
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Run, resume or show a search."""
    if arguments.words[:1] == ["show"] and len(arguments.words) == 2:
        return _show(Path(arguments.words[1]))
    if len(arguments.words) != (0 if arguments.resume else 1):
        raise ValueError(
            "Name one dataset, or a search: `keras-vaf search wine`, `keras-vaf search "
            "--resume FOLDER` or `keras-vaf search show FOLDER`. "
            f"Received: {' '.join(arguments.words) or 'nothing'}"
        )
    require("matplotlib", extra="plot")  # now, not after the search
    require("rich", extra="tune")
    folder = _folder(arguments)
    search = DatasetSearch(Settings.read(folder), folder)
    try:
        return _run(search)
    except KeyboardInterrupt:
        print(
            "\nkeras-vaf: interrupted. What was finished is kept; go on with: "
            f"keras-vaf search --resume {folder}",
            file=sys.stderr,
        )
        return 130
    except RuntimeError as error:
        raise ValueError(str(error).strip()) from error


def _add_search_options(group: argparse._ArgumentGroup) -> None:
    for name, default, text in (
        ("trials", 30, "number of trials at most"),
        ("folds", 5, "number of folds that score a trial"),
        ("epochs", 300, "largest number of epochs"),
        ("seed", 0, "seed of rows, folds, starts and trials"),
    ):
        group.add_argument(
            f"--{name}", type=int, default=default, help=f"{text} (default: {default})"
        )
    add_hidden(group)
    group.add_argument(
        "--tuner",
        choices=tuple(TUNERS),
        default="random",
        help="how trials are drawn; hyperband makes 6, 23 or 70, most of them of few "
        "epochs (default: %(default)s)",
    )


def _folder(arguments: argparse.Namespace) -> Path:
    """Return the folder of the search, with its settings in it."""
    if arguments.resume:
        return Path(arguments.resume)
    if arguments.epochs < 1:
        raise ValueError(
            f"`--epochs` must be at least 1. Received: --epochs {arguments.epochs}"
        )
    (name,) = arguments.words
    folder = Path(arguments.output or f"runs/search-{name}")
    options = {
        option: getattr(arguments, option)
        for option in ("trials", "tuner", "folds", "hidden", "epochs", "seed")
    }
    settings = Settings.of(name, arguments.data_dir, **options)
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()  # fail now if it cannot be written
    settings.write(folder)
    return folder


def _run(search: DatasetSearch) -> int:
    started = time.monotonic()
    tuner = search.tuner()
    search.run(tuner)
    scores = search.finish(tuner)
    _print_trials(tuner.results(), search.settings)
    (metric, score), (_, constant) = scores.items()
    print(
        f"\nThe best trial, trained on all rows of the search, has {metric} "
        f"{score:.4g} on the test rows (best constant: {constant:.4g}). "
        f"This took {duration(time.monotonic() - started)}."
    )
    _print_files(search)
    return 0


def _show(folder: Path) -> int:
    settings = Settings.read(folder)
    _print_trials(read_trials(folder / TRIALS), settings)
    write_results(folder)
    return 0


def _print_trials(results: list[TrialResult], settings: Settings) -> None:
    best_first = ranked(results, "min")
    names = names_of(results)
    lines = [
        (
            result.trial,
            result.status.lower() if result.score is None else f"{result.score:.4g}",
            "" if result.deviation is None else f"{result.deviation:.2g}",
            "" if result.epochs is None else str(result.epochs),
            *(str(result.values.get(name, "")) for name in names),
        )
        for result in best_first[:_SHOWN]
    ]
    completed = sum(result.status == "COMPLETED" for result in results)
    failed = sum(result.status == "FAILED" for result in results)
    notes = [
        f"Score: validation loss, mean of {settings.folds} folds; lower is better.",
        f"{completed} of {settings.trials} trials completed, {failed} failed"
        + (f"; the best {_SHOWN} are shown." if len(results) > _SHOWN else "."),
    ]
    print_table(
        f"Search on {settings.dataset}",
        ("trial", "score", "deviation", "epochs", *names),
        lines,
        notes,
    )


def _print_files(search: DatasetSearch) -> None:
    inputs = (
        "x: rows of the dataset, in its own units"
        if search.takes_raw_inputs
        else "x: rows as keras_vaf.datasets.Preprocessing makes them"
    )
    print(
        f"Written to {search.folder}: report.json, trials.csv, trials.json, "
        "parallel.png, progress.png, effects.png, curve.png and best.keras. Use it:\n\n"
        "  import keras, keras_vaf; "
        f"model = keras.saving.load_model({str(search.folder / 'best.keras')!r})\n"
        f"  model.predict(x)  # {inputs}"
    )
