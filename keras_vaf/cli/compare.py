"""`keras-vaf compare`: ReLU against trainable activations, cross-validated."""

import argparse


def add_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add `compare` to the commands of `keras-vaf`."""
    parser = subparsers.add_parser(
        "compare",
        help="compare ReLU with trainable activations on a data set",
        description=(
            "Train the same network with each activation on stratified folds and "
            "report accuracy (or RMSE), parameters, seconds and the learned curves."
        ),
        epilog="Example: keras-vaf compare wine --folds 10 --activations relu,vaf-relu",
    )
    parser.add_argument("data", help="name of a data set, or path of a CSV file")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the comparison that the command line asks for."""
    raise ValueError(f"Expected the name of a data set. Received: {arguments.data!r}")
