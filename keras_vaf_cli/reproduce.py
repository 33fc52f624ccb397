"""Run an experiment of the paper.

Run an experiment of the paper and compare its results with the published numbers. If
the command is run again, it trains only what is missing. With --quick it runs a small
version of the experiment, which checks that everything works; its results are not
meaningful.

examples:
  keras-vaf reproduce classification --quick
  keras-vaf reproduce regression --datasets servo,yacht --seeds 0,1,2
"""

from typing import Any

from keras_vaf_cli.shared import print_table, say

ARGUMENTS = {
    "": (
        *("name", "--quick", "--datasets", "--activations", "--selection", "--seeds"),
        *("--data-dir", "--output", "--jobs"),
    )
}


def run(given: dict[str, Any]) -> None:
    """Run the experiment that the command line asks for, and show the table."""
    from keras_vaf.paper import reproduce

    done = reproduce(**given)
    print_table(*done.text)
    pictures = ", with pictures next to it" if done.figures else ""
    say(f"\nWritten to {done.path}{pictures}.")
