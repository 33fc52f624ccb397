"""The tables of the catalogue for TensorFlow Datasets (TFDS).

Importing this module registers the builder `vaf_tables`, with one configuration for
each table: `tfds.load("vaf_tables/yacht")`. It finds and checks the files as `load`
does. TFDS has builders for MNIST, Fashion-MNIST and CIFAR-10: `tfds.load("mnist")`.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from keras_vaf.datasets.catalogue import CATALOGUE, find
from keras_vaf.datasets.loading import load
from keras_vaf.utils import require

tfds: Any = require("tensorflow_datasets", extra="data")


class VafTables(tfds.core.GeneratorBasedBuilder):
    """The tables of the catalogue, each with a single split, `train`, of all rows.

    The downloads of TFDS are not used, because their cache accepts incomplete files.
    """

    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS = [  # noqa: RUF012 (TFDS wants a list)
        tfds.core.BuilderConfig(name=entry.name, description=entry.paper_name)
        for entry in CATALOGUE
        if entry.target
    ]

    def _info(self) -> Any:
        entry = find(self.builder_config.name)
        if entry.task == "classification":
            target = tfds.features.ClassLabel(names=entry.class_names or entry.labels)
        else:
            target = tfds.features.Scalar(np.float32)
        features = tfds.features.Tensor(shape=(entry.size.inputs,), dtype=np.float32)
        both = {"features": features, "target": target}
        return tfds.core.DatasetInfo(
            builder=self,
            description=f"{entry.paper_name}. {entry.difference}".strip(),
            features=tfds.features.FeaturesDict(both),
            supervised_keys=("features", "target"),
            homepage=entry.publisher,
            citation=entry.citation,
            license=entry.licence,
            disable_shuffling=True,
        )

    def _split_generators(self, dl_manager: Any) -> dict[str, Any]:
        return {"train": self._generate_examples()}

    def _generate_examples(self) -> Iterator[tuple[int, dict[str, Any]]]:
        dataset = load(self.builder_config.name)
        for row, pair in enumerate(zip(dataset.x, dataset.y, strict=True)):
            yield row, dict(zip(("features", "target"), pair, strict=True))
