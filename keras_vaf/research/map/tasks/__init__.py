"""`TASKS`, the tasks of the map, with one module per task."""

from keras_vaf.research.map.tasks import (
    certified,
    fine_tuning,
    images,
    oscillating,
    physics,
    plasticity,
    special,
)

TASKS = (
    oscillating.TASK,
    special.TASK,
    physics.TASK,
    images.TASK,
    certified.TASK,
    fine_tuning.TASK,
    plasticity.TASK,
)
"""Tasks 3 to 9. Tasks 1 and 2 are read from reports of cross-validations."""
