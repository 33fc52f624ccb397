"""`keras-vaf reproduce`: the paper's experiments, beside the published numbers."""

import argparse
import sys
from pathlib import Path

import keras

from keras_vaf.cli.compare import add_run_options, integers
from keras_vaf.cli.terminal import print_table, track
from keras_vaf.experiments import Shard, write_compact
from keras_vaf.experiments.reproduction import (
    EXPERIMENTS,
    Reproduction,
    find_experiment,
    reproduce,
)
from keras_vaf.experiments.verdict import (
    COLUMNS,
    lines_of,
    markdown,
    over_datasets,
    verdicts,
)
from keras_vaf.utils import write_atomically

_SHOWN = ("dataset", "activation", "mean", "deviation", "published", "p", "constant")
_DESCRIPTION = """\
Run an experiment of the paper and hold its results against the published numbers.
Called again, it trains only what is missing. With --quick it is a small form of the
experiment, which shows that everything works; its numbers say little.
"""
_EXAMPLES = """\
examples:
  keras-vaf reproduce classification --quick
  keras-vaf reproduce regression --datasets servo,yacht --seeds 0,1,2
"""


def add_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add `reproduce` to the commands of `keras-vaf`."""
    parser = subparsers.add_parser(
        "reproduce",
        help="run an experiment of the paper",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = ", ".join(experiment.name for experiment in EXPERIMENTS)
    parser.add_argument("name", help=f"which experiment: {names}")
    parser.add_argument(
        "--quick", action="store_true", help="run a small form that takes minutes"
    )
    parser.add_argument(
        "--protocol",
        default="paper",
        help="paper (as published), or ours (as a careful person would) "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--selection",
        default="validation",
        help="pick rates and architectures by validation, or as the paper by test "
        "scores: paper (default: %(default)s)",
    )
    parser.add_argument(
        "--datasets",
        default="",
        metavar="NAMES",
        help="datasets to run, separated by commas (default: all of the experiment)",
    )
    parser.add_argument(
        "--seeds",
        type=integers,
        default=(0,),
        help="seeds, each with folds of its own (default: 0)",
    )
    parser.add_argument(
        "--data-dir",
        metavar="FOLDER",
        help="folder with the publishers' files (default: KERAS_VAF_DATA_DIR, and "
        "without it the files that were fetched)",
    )
    parser.add_argument(
        "--output",
        default="runs",
        metavar="FOLDER",
        help="where reports and table go (default: %(default)s)",
    )
    add_run_options(parser.add_argument_group("where and how the trainings run"))
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment that the command line asks for, and show the table."""
    done = reproduce(
        find_experiment(arguments.name),
        arguments.protocol,
        arguments.quick,
        datasets=[name for name in arguments.datasets.split(",") if name],
        seeds=arguments.seeds,
        data_dir=arguments.data_dir,
        output=arguments.output,
        replicas=arguments.replicas,
        engine=arguments.engine,
        shard=Shard.parse(arguments.shard) if arguments.shard else None,
        track=track,
    )
    for path in done.set_aside:
        print(f"keras-vaf: a file that was no report is now {path}", file=sys.stderr)
    if done.missing:
        print(
            f"{len(done.reports)} reports are there, {done.missing} belong to other "
            "shards. Merge the shards' folders with `keras-vaf merge`; the same "
            "command without --shard then makes the table."
        )
        return 0
    _show(done, arguments)
    return 0


def _show(done: Reproduction, arguments: argparse.Namespace) -> None:
    experiment = done.experiment
    found = verdicts(
        done.reports, experiment.metric, experiment.published, arguments.selection
    )
    form = ", quick form" if arguments.quick else ""
    title = f"{experiment.title}: protocol {arguments.protocol}{form}"
    notes = _notes(done, arguments)
    name = f"{experiment.name}-{arguments.protocol}{'-quick' * arguments.quick}"
    backend = keras.backend.backend()
    path = Path(arguments.output) / f"{name}-{arguments.selection}-{backend}.md"
    write_atomically(path, markdown(title, found, notes))
    write_compact(path.with_name(f"{name}-{backend}.json"), done.reports)
    places = [COLUMNS.index(name) for name in _SHOWN]
    lines = [[line[place] for place in places] for line in lines_of(found)]
    print_table(title, _SHOWN, lines, [*over_datasets(found), *notes])
    print(f"\nWritten to {path}, with more columns; beside it, what it was made from.")


def _notes(done: Reproduction, arguments: argparse.Namespace) -> list[str]:
    """Return how the table was made, and how it differs from the published one."""
    protocols = {report.protocol.digest: report.protocol for report in done.reports}
    settings = sorted(
        {
            f"{each.optimizer.name} {each.optimizer.arguments or ''} "
            f"({each.trials} learning rates, batch {each.batch_size or 'full'}, "
            f"at most {each.epochs} epochs, patience {each.patience}), {each.folds} "
            f"folds, {each.validation_fraction:.0%} of the rest for validation, inputs "
            f"{each.preprocessing.inputs}, targets {each.preprocessing.targets}"
            for each in protocols.values()
        }
    )
    last = sum(
        trial.best_epoch == trial.epochs
        for report in done.reports
        for trial in report.trials
    )
    count = sum(len(report.trials) for report in done.reports)
    sizes = len({each.hidden for each in protocols.values()})
    notes = [
        f"Score: {done.experiment.metric}; constant is the predictor that ignores its "
        "inputs; wins, ties, losses and p (corrected resampled t-test) are against "
        "ReLU on the same folds.",
        f"Selection of architecture (of {sizes}) and learning rate: "
        f"{arguments.selection}. Optimism is how much better the mean looks when both "
        "are picked by test scores, as the published ones were.",
        f"Seeds: {', '.join(map(str, arguments.seeds))}. {count} trainings; in {last} "
        "of them the best epoch was the last one.",
        *(f"Trained with {setting}." for setting in settings),
    ]
    if done.left_out:
        notes.append(f"Left out, as too large: {', '.join(done.left_out)}.")
    return notes
