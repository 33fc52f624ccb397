"""`attack_activations`, which loads wrong variants of a file of activations."""

import io
import json
import random
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np

from keras_vaf.layers import VAFActivation
from keras_vaf.models import load_activations, save_activations
from tests.faults.counts import COUNTS


def attack_activations(number: int = 1500) -> dict[str, int]:
    """Load wrong variants of a file, and count.

    `lost` counts models that were changed although the file was refused, or that got
    other numbers. `tracebacks` counts errors that are not a `ValueError`.

    Args:
        number: Number of files with changed bytes, besides the crafted ones.
    """
    model = keras.Sequential([keras.Input((4,))])
    for _ in range(5):
        model.add(VAFActivation(initialization="random"))
    counts = dict.fromkeys(COUNTS, 0)
    with tempfile.TemporaryDirectory() as folder:
        path = save_activations(model, Path(folder) / "activations.npz")
        before = model.get_weights()
        content = path.read_bytes()
        for variant in (*crafted(content).values(), *changed(content, number)):
            path.write_bytes(variant)
            counts["tried"] += 1
            try:
                load_activations(model, path)
            except ValueError:
                counts["stopped"] += 1
            except Exception:
                counts["tracebacks"] += 1
            pairs = zip(before, model.get_weights(), strict=True)
            if not all(np.array_equal(old, new) for old, new in pairs):
                counts["lost"] += 1
                model.set_weights(before)
    return counts


def changed(content: bytes, number: int) -> Iterator[bytes]:
    """Yield variants of a file with changed, missing, repeated or inserted bytes."""
    chance = random.Random(0)
    for _ in range(number):
        variant = bytearray(content)
        for _ in range(chance.choice([1, 1, 2, 5, 20])):
            place, kind = chance.randrange(len(variant)), chance.randrange(4)
            if kind == 0:
                variant[place] = chance.randrange(256)
            elif kind == 1:
                variant[place] ^= 1 << chance.randrange(8)
            elif kind == 2:
                del variant[place : place + chance.randint(1, 40)]
            else:
                variant[place:place] = variant[: chance.randint(1, 40)]
            variant = variant or bytearray(b"0")
        yield bytes(variant)


def crafted(content: bytes) -> dict[str, bytes]:
    """Return files that are valid archives of something else, by their fault."""
    with np.load(io.BytesIO(content)) as file:
        layout, numbers = file["layout"], file["numbers"]
    deep = np.array("[" * 100_000)
    wide, structured = numbers.astype("float64"), np.zeros(len(numbers), "f4,f4")
    wide[0] = 1e300
    arrays: dict[str, tuple[Any, Any]] = {
        "1e300": (layout, wide),
        "infinite": (layout, numbers + np.float32(np.inf)),
        "nan": (layout, numbers * np.float32(np.nan)),
        "float64": (layout, numbers.astype("float64")),
        "float16": (layout, numbers.astype("float16")),
        "complex": (layout, numbers.astype("complex64")),
        "dates": (layout, numbers.astype("int64").astype("datetime64[s]")),
        "text": (layout, numbers.astype("U9")),
        "void": (layout, numbers.view("V4")),
        "structured": (layout, structured),
        "big-endian": (layout, numbers.astype(">f4")),
        "short": (layout, numbers[:-1]),
        "another shape": (layout, numbers[None]),
        "zeros that expand": (layout, np.zeros(2**25, "float32")),
        "deep layout": (deep, numbers),
        "a text that expands": (np.array("[" * 2**25), numbers),
        "layout of numbers": (np.zeros(3), numbers),
        "layout of several texts": (np.array([str(layout)] * 2), numbers),
        "no list": (np.array("1"), numbers),
        "another layout": (np.array(json.dumps([[0, "alpha", [2**62]]])), numbers),
    }
    found = {name: _archive(*pair) for name, pair in arrays.items()}
    found["a header of 8 TB"] = _archive(layout, numbers, shape=(2 * 10**12,))
    found["a shorter array"] = _archive(layout, numbers[:-1], shape=numbers.shape)
    zeros = np.zeros(2**25, "float32")
    found["data that expand"] = _archive(layout, zeros, shape=numbers.shape)
    found["pickled"] = _pickled(layout)
    return found


def _archive(layout: Any, numbers: Any, shape: tuple[int, ...] | None = None) -> bytes:
    """Return an archive, perhaps with another shape in the header of the numbers."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in (("layout", layout), ("numbers", numbers)):
            member = io.BytesIO()
            if name == "numbers" and shape is not None:
                header = {"descr": "<f4", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(member, header)
                member.write(array.tobytes())
            else:
                np.lib.format.write_array(member, np.asarray(array))
            archive.writestr(f"{name}.npy", member.getvalue())
    return buffer.getvalue()


def _pickled(layout: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, layout=layout, numbers=np.array([{}], object))
    return buffer.getvalue()
