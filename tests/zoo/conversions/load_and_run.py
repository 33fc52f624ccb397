"""Load a model in a new process, run it, and write its outputs.

Args: the file, `frozen` if keras_vaf must not be imported, and the keys of the inputs.
"""

import json
import sys
import zipfile
from pathlib import Path


def main(file: str, kind: str, keys: str) -> None:
    """Load a model and write `outputs.npz` to the same folder."""
    sys.path[:] = [p for p in sys.path if Path(p) != Path(__file__).parent]
    if kind == "frozen":
        sys.modules["keras_vaf"] = None  # type: ignore[assignment]
    else:
        import keras_vaf  # noqa: F401

    import keras
    import numpy as np

    with zipfile.ZipFile(file) as archive:
        described = archive.read("config.json").decode()
    classes = {}
    if "keras_hub" in described:
        import keras_hub  # noqa: F401
    if "kimm" in described:
        import kimm

        # kimm does not register its models with Keras.
        classes = {name: getattr(kimm.models, name) for name in kimm.list_models()}
    folder = Path(file).parent
    model = keras.saving.load_model(file, custom_objects=classes, compile=False)
    with np.load(folder / "inputs.npz") as arrays:
        leaves = list(arrays.values())
    names = json.loads(keys)
    x = dict(zip(sorted(names), leaves, strict=True)) if names else leaves[0]
    outputs = keras.tree.flatten(model(x, training=False))
    np.savez(folder / "outputs.npz", *map(keras.ops.convert_to_numpy, outputs))


if __name__ == "__main__":
    main(*sys.argv[1:])
