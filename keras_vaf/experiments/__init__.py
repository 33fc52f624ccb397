"""Compare activations on any data with `compare`, which trains them on the same folds.

A `Protocol` is frozen data: all settings of a cross-validated training except the seed.
A `Variant` is the activation in a protocol. `compare` writes one report file per
training, so that an interrupted run can be continued. Tables and pictures are made only
from `Report` objects. `read` returns the records of files as a pandas DataFrame.
`select` is Algorithm 2 of the paper. The experiments of the paper are in
`keras_vaf.paper`.
"""

from keras_vaf.experiments.best import Arm, choose, refit
from keras_vaf.experiments.comparison import Comparison, compare
from keras_vaf.experiments.optimizer import PAPER_RPROP, RPROP, Optimizer
from keras_vaf.experiments.protocol import (
    Architecture,
    Cell,
    Protocol,
    cells,
    with_replicas,
)
from keras_vaf.experiments.reports.records import read
from keras_vaf.experiments.reports.report import Report, Trial
from keras_vaf.experiments.reports.report_files import read_reports, write_reports
from keras_vaf.experiments.reports.store import Store
from keras_vaf.experiments.results.comparison_figure import comparison_figure
from keras_vaf.experiments.results.comparison_table import comparison_table
from keras_vaf.experiments.results.differences import corrected_p
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
from keras_vaf.experiments.variants import (
    CONTROLS,
    FAMILY,
    VARIANTS,
    Variant,
    find_variants,
)
from keras_vaf.experiments.wide_relu import as_wide

__all__ = [
    "CONTROLS",
    "FAMILY",
    "PAPER_RPROP",
    "RPROP",
    "VARIANTS",
    "Architecture",
    "Arm",
    "Cell",
    "Comparison",
    "Optimizer",
    "Protocol",
    "Published",
    "Report",
    "Result",
    "Selected",
    "Store",
    "Table",
    "Trial",
    "Variant",
    "as_wide",
    "cells",
    "choose",
    "compare",
    "comparison_figure",
    "comparison_table",
    "corrected_interval",
    "corrected_p",
    "corrected_t_test",
    "find_variants",
    "holm",
    "learned_layers",
    "read",
    "read_reports",
    "refit",
    "results_of",
    "select",
    "selected_results",
    "start_layers",
    "wilcoxon",
    "with_replicas",
    "write_reports",
]
