"""`keras-vaf search`: search the hyperparameters of a VAF on a dataset."""

import argparse
import importlib.util
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf_cli.choices import TUNERS
from keras_vaf_cli.shared import (
    add_data_dir,
    add_engine,
    add_hidden,
    names,
    print_table,
    say,
)
from keras_vaf_cli.tables import (
    add_table_options,
    check_table,
    open_data,
    table_options,
)

if TYPE_CHECKING:
    from keras_vaf.tuners import TrialResult
    from keras_vaf.tuners.dataset_search import DatasetSearch
    from keras_vaf.tuners.search_settings import Settings

SUMMARY = "search the hyperparameters of a VAF on a dataset"
DESCRIPTION = """\
Search k, g, sharing and initialization of a VAF on a dataset. Each trial is scored by
K-fold cross-validation. A fifth of the rows is reserved to test the best trial at the
end, together with ReLU, SiLU and GELU with the same number of trials. If the command
is run again, it continues the search.
"""
EXAMPLES = """\
examples:
  keras-vaf search wine --trials 30 --output runs/search-wine
  keras-vaf search houses.csv --target price --trials 30
  keras-vaf search --resume runs/search-wine
  keras-vaf search show runs/search-wine
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `search`."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="DATASET | show FOLDER",
        help="name of a dataset or path of a table to search on, or a search to show",
    )
    parser.add_argument(
        "--resume", metavar="FOLDER", help="continue the search in this folder"
    )
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        help="output folder (default: runs/search-DATASET)",
    )
    add_data_dir(parser)
    add_table_options(parser.add_argument_group("a table of your own"))
    _add_search_options(parser.add_argument_group("the search"))


def check(arguments: argparse.Namespace) -> None:
    """Refuse a missing package and a bad table, before Keras is imported."""
    if importlib.util.find_spec("keras_tuner") is None:
        raise ImportError(
            "The search needs the package `keras_tuner`, which is not installed. "
            "Install it with: pip install 'keras-vaf[tune]'"
        )
    if len(arguments.words) == 1:
        check_table(arguments, arguments.words[0])


def run(arguments: argparse.Namespace) -> None:
    """Run, resume or show a search."""
    from keras_vaf.tuners.dataset_search import DatasetSearch
    from keras_vaf.tuners.search_settings import Settings
    from keras_vaf.utils import require
    from keras_vaf.utils.engines import check_engine

    if arguments.words[:1] == ["show"] and len(arguments.words) == 2:
        _show(Path(arguments.words[1]))
        return
    if len(arguments.words) != (0 if arguments.resume else 1):
        raise ValueError(
            "Name one dataset, or a search: `keras-vaf search wine`, `keras-vaf search "
            "--resume FOLDER` or `keras-vaf search show FOLDER`. "
            f"Received: {' '.join(arguments.words) or 'nothing'}"
        )
    require("matplotlib", extra="plot")  # before the search, not after it
    require("rich", extra="tune")
    check_engine(arguments.engine)
    if arguments.resume:
        folder = Path(arguments.resume)
        search = DatasetSearch(Settings.read(folder), folder)
    else:
        search = _new_search(arguments)
    try:
        _run(search, arguments.engine)
    except KeyboardInterrupt as stop:
        raise type(stop)(
            "every finished trial is kept; continue with: keras-vaf search --resume "
            f"{search.folder}"
        ) from None
    except RuntimeError as error:
        raise ValueError(str(error).strip()) from error


def _add_search_options(group: argparse._ArgumentGroup) -> None:
    for name, default, text in (
        ("trials", 30, "largest number of trials"),
        ("folds", 5, "number of folds that score a trial"),
        ("epochs", 300, "largest number of epochs"),
        ("seed", 0, "seed of test rows, folds, initial weights and trials"),
    ):
        group.add_argument(
            f"--{name}", type=int, default=default, help=f"{text} (default: {default})"
        )
    add_hidden(group)
    group.add_argument(
        "--baselines",
        type=names,
        default=("relu", "silu", "gelu"),
        metavar="NAMES",
        help="fixed activations with the same number of trials, tested on the same "
        "rows: relu,silu,gelu (default), some of them, or none",
    )
    group.add_argument(
        "--tuner",
        choices=TUNERS,
        default="random",
        help="method that draws the trials; hyperband runs 6, 23 or 70 trials, most of "
        "them for few epochs (default: %(default)s)",
    )
    add_engine(group)


def _new_search(arguments: argparse.Namespace) -> "DatasetSearch":
    """Return the search of a command line, after its settings were checked."""
    from keras_vaf.tuners.dataset_search import DatasetSearch
    from keras_vaf.tuners.search_settings import Settings

    (name,) = arguments.words
    folder = Path(arguments.output or f"runs/search-{Path(name).stem}")
    options: dict[str, Any] = {
        option: getattr(arguments, option)
        for option in ("trials", "tuner", "folds", "hidden", "epochs", "seed")
    }
    options["baselines"] = tuple(b for b in arguments.baselines if b != "none")
    if arguments.target is not None:
        table = table_options(arguments)
        open_data(arguments, name, table)
        name = str(Path(name).absolute())
        missing = {"missing": arguments.missing} if arguments.missing else {}
        options |= {"target": arguments.target, "table": table | missing}
    settings = Settings.of(name, arguments.data_dir, **options)
    search = DatasetSearch(settings, folder)
    search.check_folds()
    settings.write(folder)
    return search


def _run(search: "DatasetSearch", engine: str) -> None:
    from keras_vaf.tuners.baselines import BASELINES
    from keras_vaf.tuners.recorded.progress import duration
    from keras_vaf.utils.engines import open_engine

    started = time.monotonic()
    tuner = search.tuner()
    baselines = {}
    with open_engine(engine) as opened:
        search.run(tuner, opened)
        for name in search.settings.baselines:
            say(
                f"Baseline {BASELINES[name]}, with the same number of trials:",
            )
            baselines[name] = search.tuner(name)
            search.run(baselines[name], opened)
    report = search.finish(tuner, baselines)
    _print_trials(tuner.results(), search.settings)
    _print_scores(report, search.metric)
    say(f"This took {duration(time.monotonic() - started)}.")
    _print_files(search)


def _show(folder: Path) -> None:
    from keras_vaf.tuners import read_trials
    from keras_vaf.tuners.dataset_search import TRIALS, write_results
    from keras_vaf.tuners.search_settings import Settings

    settings = Settings.read(folder)
    results = read_trials(folder / TRIALS)
    _print_trials(results, settings)
    write_results(folder, results)


def _print_trials(results: "list[TrialResult]", settings: "Settings") -> None:
    from keras_vaf.tuners.trial_table import trial_table

    table = trial_table(results, settings)
    print_table(table.title, table.shown, table.shown_lines, table.notes)


def _print_scores(report: dict[str, Any], metric: str) -> None:
    """Print the test scores of the best trial and of the baselines."""
    from keras_vaf.tuners.baselines import BASELINES, search_verdict

    scores = {"best VAF": report["test"][metric]}
    for name, found in report["baselines"].items():
        scores[f"best {BASELINES[name]}"] = found[metric]
    scores["best constant"] = report["test"]["constant"]
    say(
        f"\nEach best trial was trained on all {report['rows']['search']} rows of the "
        f"search. The {metric} on the {report['rows']['test']} test rows:"
    )
    for name, score in scores.items():
        say(f"  {name:<16} {score:.4g}")
    if report["baselines"]:
        say(search_verdict(report["baselines"], metric))


def _print_files(search: "DatasetSearch") -> None:
    say(
        f"Written to {search.folder}: report.json, trials.csv, trials.json, "
        "parallel.png, progress.png, effects.png, curve.png and best.keras. Use it:\n\n"
        "  import keras, keras_vaf; "
        f"model = keras.saving.load_model({str(search.folder / 'best.keras')!r})\n"
        "  model.predict(x)  # x: rows of the dataset, in its own units\n\n"
        "or predict a table with:\n\n"
        f"  keras-vaf predict {search.folder / 'best.keras'} NEW.csv -o OUT.csv"
    )
