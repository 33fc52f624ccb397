"""`prepare_tfds` and builders of the same data for TensorFlow Datasets (TFDS).

Importing this module registers two builders: `vaf_tables`, with one configuration for
each table of the catalogue, and `cifar10_batches`. They read and check the same files
as `load`. The `manual_dir` of a `tfds.download.DownloadConfig` corresponds to
`data_dir` of `load`. `prepare_tfds` prepares any dataset of the catalogue, including
those that TFDS itself provides.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from keras_vaf.datasets.catalogue import CATALOGUE, Entry, find
from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.fetching import cache_folder, data_folder, read_files
from keras_vaf.datasets.loading import load
from keras_vaf.utils import require

tfds: Any = require("tensorflow_datasets", extra="data")

_IMAGE_BUILDERS = {
    "mnist": "mnist",
    "fashion_mnist": "fashion_mnist",
    "cifar10": "cifar10_batches",
}


class CheckedBuilder(tfds.core.GeneratorBasedBuilder):
    """Base class of the builders that take their examples from `load`.

    The downloads of TFDS are not used, because their cache accepts incomplete files.
    """

    VERSION = tfds.core.Version("1.0.0")

    _data_dir_of_files: str | os.PathLike[str] | None = None

    def download_and_prepare(
        self, *, download_config: Any = None, **arguments: Any
    ) -> None:
        """Prepare the dataset, from `manual_dir` if `download_config` sets it."""
        if download_config is not None:
            self._data_dir_of_files = download_config.manual_dir
        _prepare(
            super().download_and_prepare, download_config=download_config, **arguments
        )

    def _load(self, name: str) -> Dataset:
        return load(name, self._data_dir_of_files)

    def _info_of(self, entry: Entry, inputs: Any, targets: Any) -> Any:
        features = tfds.features.FeaturesDict({**inputs, **targets})
        return tfds.core.DatasetInfo(
            builder=self,
            description=f"{entry.paper_name}. {entry.difference}".strip(),
            features=features,
            supervised_keys=(*inputs, *targets),
            homepage=entry.publisher,
            citation=entry.citation,
            license=entry.licence,
            disable_shuffling=True,
        )


class VafTables(CheckedBuilder):
    """The tables of the catalogue, each with a single split, `train`, of all rows."""

    BUILDER_CONFIGS = [  # noqa: RUF012 (TFDS wants a list)
        tfds.core.BuilderConfig(name=entry.name, description=entry.paper_name)
        for entry in CATALOGUE
        if entry.image_shape is None
    ]

    def _info(self) -> Any:
        entry = find(self.builder_config.name)
        if entry.task == "classification":
            target = tfds.features.ClassLabel(names=entry.class_names or entry.labels)
        else:
            target = tfds.features.Scalar(np.float32)
        features = tfds.features.Tensor(shape=(entry.size.inputs,), dtype=np.float32)
        return self._info_of(entry, {"features": features}, {"target": target})

    def _split_generators(self, dl_manager: Any) -> dict[str, Any]:
        dataset = self._load(self.builder_config.name)
        return {"train": self._generate_examples(dataset)}

    def _generate_examples(
        self, dataset: Dataset
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        for row, (features, target) in enumerate(
            zip(dataset.x, dataset.y, strict=True)
        ):
            yield row, {"features": features, "target": target}


class Cifar10Batches(CheckedBuilder):
    """CIFAR-10 from its Python batches; `cifar10` of TFDS needs another archive."""

    def _info(self) -> Any:
        entry = find("cifar10")
        image = tfds.features.Image(shape=entry.image_shape)
        label = tfds.features.ClassLabel(names=entry.class_names)
        return self._info_of(entry, {"image": image}, {"label": label})

    def _split_generators(self, dl_manager: Any) -> dict[str, Any]:
        dataset = self._load("cifar10")
        test = len(dataset.x) - find("cifar10").test_rows
        return {
            "train": self._generate_examples(dataset, range(test)),
            "test": self._generate_examples(dataset, range(test, len(dataset.x))),
        }

    def _generate_examples(
        self, dataset: Dataset, rows: range
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        for row in rows:
            image = dataset.x[row].astype(np.uint8)
            yield row, {"image": image, "label": dataset.y[row]}


def prepare_tfds(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    tfds_dir: str | os.PathLike[str] | None = None,
    file_format: str | None = None,
) -> Any:
    """Prepare a dataset of the catalogue for TFDS, offline if its files are present.

    A table becomes `vaf_tables/NAME` and CIFAR-10 `cifar10_batches`. The others are
    `mnist` and `fashion_mnist` of TFDS, which TFDS prepares from the checked files.

    Args:
        name: Short name in the catalogue.
        data_dir: Folder with the publishers' files, as for `load`.
        tfds_dir: Folder of datasets prepared by TFDS; `None` for the default of TFDS.
        file_format: `"array_record"` to prepare tables without TensorFlow, and images
            that can be read without it; `None` for the default of TFDS, `"tfrecord"`.

    Returns:
        The builder: `builder.as_dataset()`, or `builder.as_data_source()` for
        `"array_record"`.

    Raises:
        ValueError: If the catalogue does not contain a dataset of this name, or if a
            file differs from the publisher's.
        OSError: If a file is missing, or cannot be fetched or written.
        ImportError: If TensorFlow is needed but not installed.
    """
    entry = find(name)
    if entry.image_shape is not None or file_format != "array_record":
        require("tensorflow", extra="tensorflow")
    folder = data_dir
    builder_name = _IMAGE_BUILDERS.get(name, f"vaf_tables/{name}")
    if builder_name == name:
        # The builder of TFDS reads the files itself, once they are present and checked.
        read_files(entry, data_dir)
        folder = (data_folder(data_dir) or cache_folder()) / name
    builder = tfds.builder(builder_name, data_dir=tfds_dir)
    # The files of MNIST and Fashion-MNIST have the same names. TFDS unpacks both into
    # one folder and reuses existing files. Therefore each dataset gets a new folder.
    with tempfile.TemporaryDirectory() as extract_dir:
        config = tfds.download.DownloadConfig(
            manual_dir=folder, extract_dir=extract_dir, try_download_gcs=False
        )
        _prepare(
            builder.download_and_prepare,
            download_config=config,
            file_format=file_format,
        )
    return builder


def _prepare(prepare: Callable[..., None], **arguments: Any) -> None:
    try:
        prepare(**arguments)
    except FileExistsError:
        # Another process was faster. Its files are complete and reused.
        prepare(**arguments)
