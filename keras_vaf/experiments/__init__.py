"""Experiments: protocols in, reports out, tables and pictures from reports alone.

A `Protocol` is frozen data that decides a cross-validated training but for its seed; a
`Variant` is the activation in it. `compare` trains protocols on the same folds and
writes one report file per training, so that an interrupted run goes on from where it
was. Tables and pictures are made from `Report` objects and nothing else. `select` is
Algorithm 2 of the paper on reports. `keras_vaf.paper` runs the paper's own experiments.
"""

from keras_vaf.experiments.comparison import Comparison, best_report, compare
from keras_vaf.experiments.copies_start import CopiesStart
from keras_vaf.experiments.fair_relu import as_fair, as_wide
from keras_vaf.experiments.protocol import (
    PAPER_RPROP,
    RPROP,
    Architecture,
    Cell,
    Optimizer,
    Protocol,
    cells,
    with_replicas,
)
from keras_vaf.experiments.reports.merging import Merged, merge
from keras_vaf.experiments.reports.report import Report, Trial
from keras_vaf.experiments.reports.report_files import read_reports, write_reports
from keras_vaf.experiments.reports.store import Shard, Store
from keras_vaf.experiments.results.comparison_figure import comparison_figure
from keras_vaf.experiments.results.comparison_table import comparison_table
from keras_vaf.experiments.results.learned import learned_layers, start_layers
from keras_vaf.experiments.results.result import (
    Published,
    Result,
    results_of,
    selected_results,
)
from keras_vaf.experiments.results.selection import Selected, select
from keras_vaf.experiments.results.significance import (
    corrected_interval,
    corrected_t_test,
    holm,
    wilcoxon,
)
from keras_vaf.experiments.results.table import Table
from keras_vaf.experiments.variants import FAMILY, VARIANTS, Variant, find_variants

__all__ = [
    "FAMILY",
    "PAPER_RPROP",
    "RPROP",
    "VARIANTS",
    "Architecture",
    "Cell",
    "Comparison",
    "CopiesStart",
    "Merged",
    "Optimizer",
    "Protocol",
    "Published",
    "Report",
    "Result",
    "Selected",
    "Shard",
    "Store",
    "Table",
    "Trial",
    "Variant",
    "as_fair",
    "as_wide",
    "best_report",
    "cells",
    "compare",
    "comparison_figure",
    "comparison_table",
    "corrected_interval",
    "corrected_t_test",
    "find_variants",
    "holm",
    "learned_layers",
    "merge",
    "read_reports",
    "results_of",
    "select",
    "selected_results",
    "start_layers",
    "wilcoxon",
    "with_replicas",
    "write_reports",
]
