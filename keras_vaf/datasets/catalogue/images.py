"""The image datasets of the paper."""

from collections.abc import Sequence

from keras_vaf.datasets.catalogue.entry import Entry, File, Size, Source
from keras_vaf.datasets.catalogue.publishers import UNKNOWN_LICENCE
from keras_vaf.datasets.parsers import (
    read_cifar_archive,
    read_cifar_batches,
    read_idx,
)

# The publisher's own page no longer provides the files of MNIST.
MNIST = "https://storage.googleapis.com/cvdf-datasets/mnist/"
FASHION = (
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/"
    "b2617bb6d3ffa2e429640350f613e3291e10b141/data/fashion/",
)

_PARTS = (
    *("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
    *("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
)
_BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")


def _files(
    folder: str,
    names: Sequence[str],
    contents: Sequence[tuple[int, str]],
    *urls: str,
) -> tuple[File, ...]:
    """Return the files of a folder, in the order of the rows.

    Args:
        folder: The folder.
        names: The name of each file.
        contents: The size and the SHA-256 of each file.
        *urls: Addresses of the folder.
    """
    return tuple(
        File(f"{folder}/{name}", size, sha256, urls=tuple(url + name for url in urls))
        for name, (size, sha256) in zip(names, contents, strict=True)
    )


MNIST_FILES = _files(
    "mnist",
    _PARTS,
    (
        (9912422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
        (28881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
        (1648877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
        (4542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
    ),
    MNIST,
)

FASHION_FILES = _files(
    "fashion_mnist",
    _PARTS,
    (
        (26421880, "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"),
        (29515, "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"),
        (4422102, "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"),
        (5148, "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"),
    ),
    *FASHION,
)

CIFAR_ARCHIVE = File(
    "cifar10/cifar-10-python.tar.gz",
    size=170498071,
    sha256="6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    urls=("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",),
)

CIFAR_BATCHES = _files(
    "cifar10/cifar-10-batches-py",
    _BATCHES,
    (
        (31035704, "54636561a3ce25bd3e19253c6b0d8538147b0ae398331ac4a2d86c6d987368cd"),
        (31035320, "766b2cef9fbc745cf056b3152224f7cf77163b330ea9a15f9392beb8b89bc5a8"),
        (31035999, "0f00d98ebfb30b3ec0ad19f9756dc2630b89003e10525f5e148445e82aa6a1f9"),
        (31035696, "3f7bb240661948b8f4d53e36ec720d8306f5668bd0071dcb4e6c947f78e9682b"),
        (31035623, "d91802434d8376bbaeeadf58a737e3a1b12ac839077e931237e0dcd43adcb154"),
        (31035526, "f53d8d457504f7cff4ea9e021afcf0e0ad8e24a91f3fc42091b8adef61157831"),
    ),
)

CIFAR_COMPRESSED_BATCHES = _files(
    "cifar10/cifar-10-batches-py",
    [f"{name}.xz" for name in _BATCHES],
    (
        (23257700, "24310b4d270a889633219da9ad5e629d484feee1ac3822761e68c9e4ece3015b"),
        (23304512, "d5829ba7c3a9f3f451de1cef9d64c3d53eec67eab36f2689c27213f831abe1a1"),
        (23303900, "97be56f7d7dd60aacc43171a9fc624a0e37e70bb26046e453618ba957d7f2e2c"),
        (23291920, "9d868a2b1b989f4ff1dfe6731881311b67746f8f603d42c789095b12245eaf7f"),
        (23258528, "51e24ab8fa3cadf307b8d137209f74ab20d8b2a3bcd849eb9352e50ebc3a82eb"),
        (23272988, "5a50e41e19e4b5c03f33cc291df4cd4c790f85ac1f5fdee3751cce856611c693"),
    ),
)

DIGITS = tuple("0123456789")

IMAGES = (
    Entry(
        name="mnist",
        paper_name="MNIST",
        size=Size(70000, 28 * 28, 10),
        publisher="http://yann.lecun.com/exdb/mnist/",
        licence=UNKNOWN_LICENCE,
        citation="Y. LeCun, C. Cortes, C. Burges, MNIST handwritten digit database",
        sources=(Source(read_idx, MNIST_FILES),),
        labels=DIGITS,
        image_shape=(28, 28, 1),
        test_rows=10000,
    ),
    Entry(
        name="fashion_mnist",
        paper_name="Fashion MNIST",
        size=Size(70000, 28 * 28, 10),
        publisher="https://github.com/zalandoresearch/fashion-mnist",
        licence="MIT",
        citation=(
            "H. Xiao, K. Rasul, R. Vollgraf, Fashion-MNIST: a novel image dataset for "
            "benchmarking machine learning algorithms, arXiv:1708.07747, 2017"
        ),
        sources=(Source(read_idx, FASHION_FILES),),
        labels=DIGITS,
        class_names=(
            *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
            *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
        ),
        image_shape=(28, 28, 1),
        test_rows=10000,
    ),
    Entry(
        name="cifar10",
        paper_name="Cifar10",
        size=Size(60000, 32 * 32 * 3, 10),
        publisher="https://www.cs.toronto.edu/~kriz/cifar.html",
        licence=UNKNOWN_LICENCE,
        citation=(
            "A. Krizhevsky, Learning multiple layers of features from tiny images, 2009"
        ),
        sources=(
            Source(read_cifar_archive, (CIFAR_ARCHIVE,)),
            Source(read_cifar_batches, CIFAR_BATCHES),
            Source(read_cifar_batches, CIFAR_COMPRESSED_BATCHES),
        ),
        labels=DIGITS,
        class_names=(
            *("airplane", "automobile", "bird", "cat", "deer"),
            *("dog", "frog", "horse", "ship", "truck"),
        ),
        image_shape=(32, 32, 3),
        test_rows=10000,
    ),
)
