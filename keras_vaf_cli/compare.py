"""Compare ReLU with trainable activations on a dataset.

Train a fully connected network with each activation in cross-validation (by default
relu, gelu, silu, tanh, prelu and vaf, which starts at the best of the first four), and
compare test accuracy (or RMSE), parameters, training time and the learned functions.
Networks are trained with Adam, several learning rates and early stopping. If the
command is run again, it trains only what is missing.

examples:
  keras-vaf compare wine
  keras-vaf compare houses.csv --target price
  keras-vaf compare houses.csv --target price --quick
"""

from typing import Any

from keras_vaf_cli.options import TABLE
from keras_vaf_cli.shared import open_data, pick, show_comparison

ARGUMENTS = TABLE | {
    "training": (
        *("--quick", "--activations", "--k", "--g", "--folds", "--epochs"),
        *("--learning-rates", "--hidden", "--seeds", "--jobs"),
    )
}


def run(given: dict[str, Any]) -> None:
    """Run the comparison that the command line asks for, and show the table."""
    from keras_vaf.experiments import Recipe, compare, find_arms
    from keras_vaf.training import recipe

    settings = dict(recipe.QUICK) if "quick" in given else {}
    settings |= pick(given, "hidden", "learning_rates", "epochs", "folds", "missing")
    arms = find_arms(",".join(given.get("activations", recipe.ACTIVATIONS)))
    own = pick(given, "k", "g")
    for name in own:
        if not any(name in arm.arguments for arm in arms):
            raise ValueError(
                f"`--{name}` is for a VAF: use `--activations relu,vaf-relu`."
            )
    comparison = compare(
        open_data(given),
        [arm.updated(**own) for arm in arms],
        Recipe(**settings),
        **pick(given, "seeds", "output", "jobs"),
    )
    show_comparison(comparison)
