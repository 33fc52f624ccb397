"""`in_float64`, which evaluates a function of `keras.ops` in float64 on JAX.

Many functions of `keras.ops` convert float64 to float32 on JAX, such as `tanh`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

_CALLS = ("closed_call", "custom_jvp_call", "custom_vjp_call", "jit", "pjit")
_NARROW, _WIDE = np.dtype("float32"), np.dtype("float64")


def in_float64(function: Callable[..., Any], *tensors: jax.Array) -> Any:
    """Return a function of float64 tensors, without conversions to float32.

    Functions with loops or branches, or whose code reads numbers, are called as usual.
    """
    try:
        program = jax.make_jaxpr(function)(*tensors)
        (result,) = _run(program.jaxpr, program.consts, tensors)
    except (NotImplementedError, jax.errors.JAXTypeError):
        return function(*tensors)
    return result


def _run(program: Any, constants: Sequence[Any], arguments: Sequence[Any]) -> list[Any]:
    known = dict(zip(program.constvars, map(_widened, constants), strict=True))
    known |= zip(program.invars, arguments, strict=True)

    def read(variable: Any) -> Any:
        literal = hasattr(variable, "val")
        return _widened(variable.val) if literal else known[variable]

    for step in program.eqns:
        values, settings = [*map(read, step.invars)], step.params
        inner = settings.get("jaxpr", settings.get("call_jaxpr"))
        if step.primitive.name in _CALLS:
            found = _run(inner.jaxpr, inner.consts, values)
        elif any("jaxpr" in name or name == "branches" for name in settings):
            raise NotImplementedError(step.primitive.name)
        else:
            words = {n: _WIDE if s == _NARROW else s for n, s in settings.items()}
            found = step.primitive.bind(*values, **words)
            found = found if step.primitive.multiple_results else [found]
        known |= zip(step.outvars, found, strict=True)
    return [*map(read, program.outvars)]


def _widened(value: Any) -> Any:
    return jax.numpy.asarray(value, _WIDE) if value.dtype == _NARROW else value
