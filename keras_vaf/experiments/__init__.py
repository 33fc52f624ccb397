"""Experiments: protocols in, reports out, tables and pictures from reports alone.

A `Protocol` is frozen data that decides a cross-validated training but for its seed; a
`Variant` is the activation in it. `compare` trains protocols on the same folds and
writes one report file per training, so that an interrupted run goes on from where it
was. Tables and pictures are made from `Report` objects and nothing else. `select` is
Algorithm 2 of the paper on reports, and `reproduce` runs the paper's experiments.
"""

from keras_vaf.experiments.compact import read_compact, write_compact
from keras_vaf.experiments.comparison import Comparison, best_report, compare
from keras_vaf.experiments.curves import functions_figure
from keras_vaf.experiments.experiment import (
    Experiment,
    Form,
    Outcome,
    Reproduction,
)
from keras_vaf.experiments.figures import (
    comparison_figure,
    learned_layers,
    start_layers,
)
from keras_vaf.experiments.fully_connected import protocols_of
from keras_vaf.experiments.keeping import keep, read_reproduction
from keras_vaf.experiments.merging import Merged, merge
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
from keras_vaf.experiments.published import Published
from keras_vaf.experiments.reports import Report, Trial, read_reports
from keras_vaf.experiments.reproduction import (
    EXPERIMENTS,
    find_experiment,
    reproduce,
)
from keras_vaf.experiments.selection import Selected, select
from keras_vaf.experiments.settings import with_settings
from keras_vaf.experiments.significance import (
    corrected_interval,
    corrected_t_test,
    holm,
    wilcoxon,
)
from keras_vaf.experiments.store import Shard, Store
from keras_vaf.experiments.tables import Row, markdown, summarise
from keras_vaf.experiments.tries import as_fair
from keras_vaf.experiments.variants import FAMILY, VARIANTS, Variant, find_variants
from keras_vaf.experiments.verdict import Verdict, verdicts
from keras_vaf.experiments.widening import as_wide

__all__ = [
    "EXPERIMENTS",
    "FAMILY",
    "PAPER_RPROP",
    "RPROP",
    "VARIANTS",
    "Architecture",
    "Cell",
    "Comparison",
    "Experiment",
    "Form",
    "Merged",
    "Optimizer",
    "Outcome",
    "Protocol",
    "Published",
    "Report",
    "Reproduction",
    "Row",
    "Selected",
    "Shard",
    "Store",
    "Trial",
    "Variant",
    "Verdict",
    "as_fair",
    "as_wide",
    "best_report",
    "cells",
    "compare",
    "comparison_figure",
    "corrected_interval",
    "corrected_t_test",
    "find_experiment",
    "find_variants",
    "functions_figure",
    "holm",
    "keep",
    "learned_layers",
    "markdown",
    "merge",
    "protocols_of",
    "read_compact",
    "read_reports",
    "read_reproduction",
    "reproduce",
    "select",
    "start_layers",
    "summarise",
    "verdicts",
    "wilcoxon",
    "with_replicas",
    "with_settings",
    "write_compact",
]
