"""`find_tasks` and `find_arms`, which find tasks and arms by name or in a file."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import keras

from keras_vaf.research.map.arm import Arm
from keras_vaf.research.map.task import Task
from keras_vaf.research.map.tasks import TASKS
from keras_vaf.utils import check_distinct


def find_tasks(names: Sequence[str]) -> tuple[Task, ...]:
    """Return tasks by name, or by `FILE.py:FUNCTION` for a function that returns one.

    Args:
        names: The names. An empty sequence means all tasks of the map.

    Raises:
        ValueError: If a name is unknown or occurs twice, if a file cannot be run, or if
            a function does not return a `Task`.
    """
    known = {task.name: task for task in TASKS}
    found = []
    for name in names or known:
        task = _task_of(name) if ".py:" in name else known.get(name)
        if not isinstance(task, Task):
            raise ValueError(
                f"Tasks are {', '.join(known)}, or FILE.py:FUNCTION for a function "
                f"that returns a Task. Received: {name}"
            )
        found.append(task)
    check_distinct("tasks", [task.name for task in found])
    return tuple(found)


def find_arms(task: Task, names: Sequence[str]) -> tuple[Arm, ...]:
    """Return arms of a task by name, or by `FILE.py:CLASS` for a class of layers.

    Args:
        task: The task.
        names: The names. An empty sequence means all arms of the task. Names of arms
            that only other tasks have are ignored.

    Raises:
        ValueError: If no task has an arm with a given name, if a name occurs twice, or
            if a class is not a class of layers.
    """
    if not names:
        return task.arms
    check_distinct("activations", names)
    everywhere = {arm.name for each in (*TASKS, task) for arm in each.arms}
    own = []
    for name in names:
        if ".py:" in name:
            own.append(_arm_of(_from_file(name), name))
        elif name not in everywhere:
            raise ValueError(
                f"Activations are {', '.join(sorted(everywhere))}, or FILE.py:CLASS. "
                f"Received: {name}"
            )
    return (*(arm for arm in task.arms if arm.name in names), *own)


def _task_of(text: str) -> Any:
    """Return what the function of a file returns, or `None` if it is not callable."""
    function = _from_file(text)
    return _or_reason(function, text) if callable(function) else None


def _or_reason(call: Callable[[], Any], text: str) -> Any:
    """Call a function of a user's file, and name the file and the reason if it fails.

    The exception of the file is the cause of the error.
    """
    try:
        return call()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(
            f"The file cannot be run: {reason}. Received: {text}"
        ) from error


def _arm_of(kind: Any, name: str) -> Arm:
    """Return the arm of a class, and register the class if necessary."""
    if not (isinstance(kind, type) and issubclass(kind, keras.layers.Layer)):
        raise ValueError(f"Expected a class of layers. Received: {name}")
    registered = keras.saving.get_registered_name(kind)
    if registered == kind.__name__:
        keras.saving.register_keras_serializable(package="own")(kind)
        registered = keras.saving.get_registered_name(kind)
    return Arm(kind.__name__, kind.__name__, "rival", registered)


def _from_file(text: str) -> Any:
    """Return the object of a text such as `"mine.py:MyActivation"`."""
    file, _, name = text.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise FileNotFoundError(f"The file {path} does not exist")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"Expected a Python file. Received: {text}")
    module = importlib.util.module_from_spec(spec)
    _or_reason(functools.partial(spec.loader.exec_module, module), text)
    if not hasattr(module, name):
        raise ValueError(f"{path} does not define {name!r}. Received: {text}")
    return getattr(module, name)
