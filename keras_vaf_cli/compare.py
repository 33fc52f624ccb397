"""Compare ReLU with trainable activations on a dataset.

Train a fully connected network with each activation in cross-validation, and compare
test accuracy (or RMSE), parameters, training time and the learned functions. Networks
are trained with Adam, several learning rates and early stopping. If the command is run
again, it trains only what is missing.

examples:
  keras-vaf compare wine
  keras-vaf compare houses.csv --target price
  keras-vaf compare houses.csv --target price --quick
"""

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from keras_vaf_cli.shared import add, numbers, print_table, say
from keras_vaf_cli.tables import add_table_options, open_data

if TYPE_CHECKING:
    from keras_vaf.experiments import Comparison


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `compare`."""
    add_table_options(parser)
    group = parser.add_argument_group("training")
    group.add_argument(
        "--quick",
        action="store_true",
        help="one learning rate, 3 folds, 100 epochs: finds large differences only",
    )
    group.add_argument(
        "--activations",
        default="relu,gelu,silu,tanh,prelu,vaf-relu,vaf-silu",
        metavar="NAMES",
        help="activations to compare; the first one is the baseline (default: "
        "%(default)s); a wrong name lists all",
    )
    group.add_argument("--k", type=int, help="hidden units of a VAF (default: 3)")
    group.add_argument("--g", help="their fixed activation (default: the VAF's start)")
    group.add_argument("--folds", type=int, help="number of folds (default: 5)")
    group.add_argument("--epochs", type=int, help="most epochs (default: 300)")
    group.add_argument(
        "--learning-rates",
        type=numbers,
        metavar="RATES",
        help="of Adam; validation rows select one for each activation and fold "
        "(default: 0.0003,0.001,0.003,0.01, and further ones if one at the edge is "
        "selected)",
    )
    add(group, "--hidden", "--seeds", "--jobs")


def run(arguments: argparse.Namespace) -> None:
    """Run the comparison that the command line asks for, and show the table."""
    from keras_vaf.experiments import Recipe, compare, find_arms
    from keras_vaf.training import recipe

    def given(*names: str) -> dict[str, Any]:
        values = {name: getattr(arguments, name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    settings = given("hidden", "learning_rates", "epochs", "folds", "missing")
    quick = recipe.QUICK if arguments.quick else {}
    arms = find_arms(arguments.activations)
    comparison = compare(
        open_data(arguments),
        [arm.updated(**given("k", "g")) for arm in arms],
        Recipe(**{**quick, **settings}),
        seeds=arguments.seeds,
        output=arguments.output,
        jobs=arguments.jobs,
    )
    show_comparison(comparison)


def show_comparison(comparison: "Comparison", files: str = "comparison.png") -> None:
    """Print the table of a comparison, the advice and the files."""
    from keras_vaf.experiments.results import settings_of
    from keras_vaf.experiments.tables import text_of

    print_table(*text_of(comparison.records))
    arm, selected = comparison.choice
    _, epochs, _ = settings_of(selected)
    folder, rows = comparison.folder, comparison.recipe.usable_rows(comparison.dataset)
    say(
        f"\n{comparison.advice}\n\n"
        f"best.keras is the network with {arm.title}, trained again on all "
        f"{len(rows):,} rows for {epochs} epochs.\n"
        f"Written to {folder}: table.md, {files} and best.keras. Predict new "
        "rows with:\n"
        f"  keras-vaf predict {shlex.quote(str(folder / 'best.keras'))} NEW.csv "
        "-o OUT.csv"
    )
