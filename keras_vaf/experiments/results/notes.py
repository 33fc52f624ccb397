"""`protocol_notes` and other notes of tables, which explain their numbers."""

from __future__ import annotations

from collections.abc import Sequence

from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.results.selection import Selected


def p_value(p: float | None) -> str:
    """Return a p-value as text, such as "= 0.034" or "< 0.001"."""
    if p is None:
        return ""
    return f"= {p:.3f}" if p >= 0.001 else "< 0.001"


def gain_note(reference: str) -> str:
    """Return the note that explains the comparison with a reference."""
    return (
        "Wins, ties, losses, gain (with its 95% interval) and p (corrected resampled "
        f"t-test) compare each activation with {reference} on the same folds."
    )


HOLM_NOTE = (
    "p (Holm) has Holm's correction for the datasets of this table, for each pair of "
    "activations. Direction: better or worse mean; in brackets if p is 0.05 or above, "
    "starred if p (Holm) is below 0.05."
)
"""Explains the columns of `direction_cells`."""


def edge_note(selected: Sequence[Selected]) -> list[str]:
    """Return a note on the number of selected learning rates at a grid edge."""
    tried = [each for each in selected if len(each.protocol.rates) > 1]
    if not tried:
        return []
    folds = sum(len(each.trials) for each in tried)
    edges = sum(sum(each.at_edges) for each in tried)
    return [
        f"In {edges} of {folds} selected trainings ({edges / folds:.1%}) the "
        "learning rate is the lowest or the highest that was tried. The column edge "
        "counts them."
    ]


def trainings_note(reports: Sequence[Report]) -> str:
    """Return a note with the numbers of all trainings and of too short trainings."""
    trials = [trial for report in reports for trial in report.trials]
    last = sum(trial.best_epoch == trial.epochs for trial in trials)
    seeds = ", ".join(map(str, sorted({report.seed for report in reports})))
    return (
        f"Seeds: {seeds}. {len(trials)} trainings, each tested with the weights of its "
        f"best validation epoch; in {last} of them this epoch was the last one."
    )


def protocol_notes(reports: Sequence[Report]) -> list[str]:
    """Return one note per way in which networks were trained."""
    protocols = {report.protocol.digest: report.protocol for report in reports}
    return sorted({_trained(protocol) for protocol in protocols.values()})


def _trained(protocol: Protocol) -> str:
    optimizer, network = protocol.optimizer, protocol.architecture
    arguments = {**optimizer.arguments, **network.arguments}
    if optimizer.apart is not None:
        arguments["learning rate factor of activations"] = optimizer.apart
    named = "".join(f", {name} {value}" for name, value in arguments.items())
    rates = ", ".join(f"{rate:.4g}" for rate in protocol.rates)
    prepared = protocol.preprocessing
    parts = [
        *([f"learning rates {rates}"] if rates else []),
        f"batches of {protocol.batch_size}" if protocol.batch_size else "full batch",
        f"at most {protocol.epochs} epochs",
        f"patience {protocol.patience}" if protocol.patience else "no early stopping",
        _division(protocol),
        f"{protocol.validation_fraction:.0%} of the other rows for validation",
        f"inputs {prepared.inputs}",
        f"targets {prepared.targets}",
        f"categories {prepared.categories}",
        *(["kernels Glorot uniform, biases 0"] if network.name == "mlp" else []),
    ]
    return f"Trained ({network.name}) with {optimizer.name}{named}: {'; '.join(parts)}."


def _division(protocol: Protocol) -> str:
    if protocol.test_rows:
        return f"the last {protocol.test_rows} rows for test"
    if protocol.test_fraction is not None:
        return f"{protocol.folds} times {protocol.test_fraction:.0%} for test"
    stratified = "stratified " if protocol.task == "classification" else ""
    return f"{protocol.folds} {stratified}folds"
