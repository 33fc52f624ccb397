"""The same data for users of TensorFlow Datasets.

Importing this module registers two builders: `vaf_tables`, with one configuration for
each table of the catalogue, and `cifar10_batches`. They read and check the same files
as `load`. The `manual_dir` of a `tfds.download.DownloadConfig` is its `data_dir`.
`prepare_tfds` prepares any dataset of the catalogue, also those of TFDS itself.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from keras_vaf.datasets.catalogue import CATALOGUE, Entry, find
from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.fetching import cache_folder, data_folder
from keras_vaf.datasets.loading import load, read_files
from keras_vaf.utils import require

tfds: Any = require("tensorflow_datasets", extra="data")

_IMAGE_BUILDERS = {
    "mnist": "mnist",
    "fashion_mnist": "fashion_mnist",
    "cifar10": "cifar10_batches",
}


class CheckedBuilder(tfds.core.GeneratorBasedBuilder):
    """Base of the builders that take their examples from `load`.

    TFDS's own downloads are not used: their cache accepts incomplete files.
    """

    VERSION = tfds.core.Version("1.0.0")

    _data_dir_of_files: str | os.PathLike[str] | None = None

    def download_and_prepare(
        self, *, download_config: Any = None, **arguments: Any
    ) -> None:
        """Prepare the dataset, from `manual_dir` if `download_config` names one."""
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
    """The tables of the catalogue; one split, `train`, with all rows in order."""

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
    """CIFAR-10 from its Python batches; TFDS's `cifar10` wants another archive."""

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
    """Prepare a dataset of the catalogue for TFDS, offline if its files are there.

    A table becomes `vaf_tables/NAME` and CIFAR-10 `cifar10_batches`. The others are
    TFDS's own `mnist` and `fashion_mnist`, which TFDS prepares from the checked files.

    Args:
        name: Short name in the catalogue.
        data_dir: Folder with the publishers' files, as for `load`.
        tfds_dir: TFDS's folder of prepared datasets; its own default if `None`.
        file_format: `"array_record"` for tables without TensorFlow, and images that
            can be read without it; TFDS's own default, `"tfrecord"`, if `None`.

    Returns:
        The builder: `builder.as_dataset()`, or `builder.as_data_source()` for
        `"array_record"`.

    Raises:
        ValueError: If the catalogue has no dataset of this name, or a file is not the
            publisher's.
        OSError: If a file is not there, or cannot be fetched or written.
        ImportError: If it takes TensorFlow, and that is not installed.
    """
    entry = find(name)
    if entry.image_shape is not None or file_format != "array_record":
        require("tensorflow", extra="tensorflow")
    folder = data_dir
    builder_name = _IMAGE_BUILDERS.get(name, f"vaf_tables/{name}")
    if builder_name == name:
        # TFDS's own builder: it reads the files itself, once they are there and right.
        read_files(entry, data_dir)
        folder = (data_folder(data_dir) or cache_folder()) / name
    builder = tfds.builder(builder_name, data_dir=tfds_dir)
    # TFDS unpacks the files of MNIST and those of Fashion-MNIST, which have the same
    # names, into one folder, and reuses what it finds there: so each gets a new one.
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
        # Another process was faster. What it has written is whole, and reused.
        prepare(**arguments)
