"""Experiments: protocols in, reports out, tables and pictures from reports alone.

A `Protocol` is frozen data that decides a cross-validated training but for its seed; a
`Variant` is the activation in it. `compare` trains protocols on the same folds and
writes one report file per training, so that an interrupted run goes on from where it
was. Tables and pictures are made from `Report` objects and nothing else.
"""

from keras_vaf.experiments.comparison import Comparison, best_report, compare
from keras_vaf.experiments.figures import comparison_figure, learned_layers
from keras_vaf.experiments.merging import Merged, merge
from keras_vaf.experiments.protocol import (
    PAPER_RPROP,
    RPROP,
    Cell,
    Optimizer,
    Protocol,
    cells,
    with_replicas,
)
from keras_vaf.experiments.reports import Report, Trial, read_reports
from keras_vaf.experiments.store import Shard, Store
from keras_vaf.experiments.tables import Row, markdown, summarise
from keras_vaf.experiments.variants import FAMILY, VARIANTS, Variant, find_variants
from keras_vaf.experiments.widening import as_wide

__all__ = [
    "FAMILY",
    "PAPER_RPROP",
    "RPROP",
    "VARIANTS",
    "Cell",
    "Comparison",
    "Merged",
    "Optimizer",
    "Protocol",
    "Report",
    "Row",
    "Shard",
    "Store",
    "Trial",
    "Variant",
    "as_wide",
    "best_report",
    "cells",
    "compare",
    "comparison_figure",
    "find_variants",
    "learned_layers",
    "markdown",
    "merge",
    "read_reports",
    "summarise",
    "with_replicas",
]
