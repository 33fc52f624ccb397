"""`find_study`, which returns a registered study by its name."""

from __future__ import annotations

from typing import Any

from keras_vaf import datasets

BACKENDS = {
    "regressions": "jax",
    "classifications": "jax",
    "sensor": "torch",
    "kinks": "jax",
    "map": "jax",
    "language": "torch",
    "sensor-controls": "torch",
    "functions": "jax",
    "functions-wider": "jax",
    "catalogue": "jax",
    "images": "torch",
    "map-steps": "jax",
    "language-others": "torch",
    "images-others": "torch",
    "images-all": "torch",
    "images-cnet-a": "torch",
}
"""The studies in the order in which they run, and their backends."""

KINKS = ("kin8nm", "puma8nh", "puma32h")


def find_study(name: str) -> Any:
    """Return a study, which has the methods `run` and `trainings`.

    Args:
        name: A key of `BACKENDS`.
    """
    from benchmarks.evidence import regressions, tables

    arms = ("relu", "gelu", "silu", "tanh", "prelu", "vaf-relu", "vaf-silu")
    if name == "regressions":
        return tables.TableStudy(
            tuple(regressions.TABLES), regressions.load, arms, references=True
        )
    if name == "catalogue":
        return tables.TableStudy(
            _catalogue("regression"), datasets.load, arms, references=True
        )
    if name == "classifications":
        names = _catalogue("classification")
        pair = ("relu", "vaf-relu")
        return tables.TableStudy(names, datasets.load, pair, (0.001,), extend=False)
    if name == "kinks":
        pair = ("gelu", "gelu-hinges-fixed")
        more = ("gelu-hinges", "relu", "silu", "vaf-relu", "vaf-silu", "vaf-gelu")
        return tables.TableStudy(KINKS, datasets.load, (*pair, *more))
    if name in ("map", "map-steps"):
        from benchmarks.evidence.map.study import MapStudy

        return MapStudy("time" if name == "map" else "steps")
    if name in ("functions", "functions-wider"):
        from benchmarks.evidence.map import functions

        arms = functions.ARMS if name == "functions" else functions.WIDER
        return functions.random_functions(arms)
    if name in ("sensor", "sensor-controls"):
        from benchmarks.evidence.pytorch import sensor, sensor_network

        if name == "sensor":
            return sensor.SensorStudy(sensor_network.REGISTERED)
        return sensor.SensorStudy(sensor_network.CONTROLS, labels=(80,))
    if name in ("language", "language-others"):
        from benchmarks.evidence.pytorch import language

        arms = language.REGISTERED if name == "language" else language.EXPLORATORY
        return language.LanguageStudy(arms)
    from benchmarks.evidence.pytorch import images

    if name == "images-all":
        return images.ImageStudy(images.OF_ALL_IMAGES, images.ALL_IMAGES)
    if name == "images-cnet-a":
        return images.ImageStudy(images.ON_CIFAR, images.CNET_A)
    pairs = images.REGISTERED if name == "images" else images.EXPLORATORY
    return images.ImageStudy(pairs)


def _catalogue(task: str) -> tuple[str, ...]:
    """Return the names of the tables of the catalogue with a task, small ones first."""
    tables = [each for each in datasets.CATALOGUE if each.image_shape is None]
    found = [each for each in tables if each.task == task]
    return tuple(each.name for each in sorted(found, key=lambda each: each.size.rows))
