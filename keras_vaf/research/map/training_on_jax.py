"""`Trainer`, which trains many networks of one arm as one compiled JAX program."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import keras
import numpy as np

from keras_vaf.ops.switches import plain_differentiation
from keras_vaf.research.map.arm import Arm
from keras_vaf.research.map.task import Problem, Settings


@dataclass(frozen=True)
class Lane:
    """A network in a program, given by its seed and learning rate."""

    seed: int
    rate: float


class Trained(NamedTuple):
    """The result of training a network.

    Attributes:
        validation: Validation error at the end, or infinity if it is not finite.
        error: Test error at the end, or infinity if it is not finite.
        more: The result of `Problem.inspect`.
    """

    validation: float
    error: float
    more: dict[str, float]


class _State(NamedTuple):
    trainable: Any
    fixed: Any
    optimizer: Any


class Trainer:
    """Trains the networks of one arm on one problem.

    Args:
        problem: The problem.
        arm: The activation.
        settings: Settings of the training.

    Raises:
        ValueError: If the network cannot be built with the activation.
    """

    def __init__(self, problem: Problem, arm: Arm, settings: Settings) -> None:
        self.problem, self.arm, self.settings = problem, arm, settings
        try:
            self.model = problem.network(arm, 0)
        except (TypeError, ValueError) as error:
            raise ValueError(
                "Expected a layer that can be built without arguments and returns as "
                f"many axes as it receives. Received: {arm.title}, with which the "
                f"network cannot be built ({type(error).__name__}: {error})"
            ) from error
        self.optimizer = keras.optimizers.Adam(1.0)
        self.optimizer.build(self.model.trainable_variables)
        paths = [variable.path for variable in self.optimizer.variables]
        self._place = next(
            i for i, p in enumerate(paths) if p.endswith("learning_rate")
        )
        self.compiled_in = 0.0
        axes = (_State(0, None, 0), None, 0, 0, None, None)
        self._many = jax.jit(
            jax.vmap(self._run, in_axes=axes, out_axes=_State(0, None, 0))
        )
        self._one = jax.jit(self._run)
        self._judge = jax.jit(jax.vmap(self._errors, in_axes=(axes[0], None)))
        self._judge_one = jax.jit(self._errors)

    @property
    def parameters(self) -> int:
        """Number of trained parameters."""
        return int(sum(np.prod(w.shape) for w in self.model.trainable_variables))

    def train(self, lanes: Sequence[Lane], steps: int) -> list[Trained]:
        """Train networks together.

        Args:
            lanes: Seeds and learning rates of the networks.
            steps: Number of steps per phase.
        """
        state = self._starts([lane.seed for lane in lanes])
        rates = jnp.array([lane.rate for lane in lanes], "float32")
        seeds = jnp.array([lane.seed for lane in lanes], "uint32")
        state, scored = self._phases(
            state, rates, seeds, steps, self._many, self._judge
        )
        return [
            Trained(float(v), float(e), self._inspect(state, place))
            for place, (v, e) in enumerate(scored)
        ]

    def train_alone(self, lane: Lane, steps: int) -> Trained:
        """Train a network that is alone in its program, so that it uses native kernels.

        Args:
            lane: Seed and learning rate of the network.
            steps: Number of steps per phase.
        """
        rate, seed = jnp.float32(lane.rate), jnp.uint32(lane.seed)
        _, (validation, error) = self._phases(
            self._start(lane.seed), rate, seed, steps, self._one, self._judge_one
        )
        return Trained(float(validation), float(error), {})

    def _phases(
        self, state: _State, rates: Any, seeds: Any, steps: int, run: Any, judge: Any
    ) -> tuple[_State, np.ndarray]:
        """Train for all phases, and return the last state and the mean errors."""
        errors = []
        for number, (data, held) in enumerate(
            zip(self.problem.phases, self.problem.held, strict=True)
        ):
            state = run(state, data, rates, seeds, steps, number)
            errors.append(np.asarray(judge(state, held), "float64"))
        scored = np.mean(errors[-self.problem.scored :], axis=0)
        return state, np.where(np.isfinite(scored), scored, np.inf)

    def seconds(self, steps: int) -> float:
        """Return the time per step of one network in seconds, without compilation.

        The network is alone in its program, as in an ordinary training. In a program
        of many networks some activations, such as PReLU, take several times as long.

        Args:
            steps: Number of steps to measure.
        """
        data = self.problem.phases[0]
        run = partial(self._one, self._start(0), data, 1e-4, np.uint32(0))
        begin = time.perf_counter()
        if not self.compiled_in:
            jax.block_until_ready(run(1, 0))
            self.compiled_in = time.perf_counter() - begin
            begin = time.perf_counter()
        jax.block_until_ready(run(steps, 0))
        return (time.perf_counter() - begin) / steps

    def _starts(self, seeds: Sequence[int]) -> _State:
        """Return the initial states for seeds, with the same frozen weights."""
        models = {seed: self.problem.network(self.arm, seed) for seed in {*seeds}}
        starts = {
            seed: [np.asarray(variable.value) for variable in model.trainable_variables]
            for seed, model in models.items()
        }
        fixed = {
            seed: [np.asarray(v.value) for v in model.non_trainable_variables]
            for seed, model in models.items()
        }
        first = fixed[seeds[0]]
        if any(
            not np.array_equal(a, b)
            for each in fixed.values()
            for a, b in zip(first, each, strict=True)
        ):
            raise ValueError(
                "The frozen weights of a network must not depend on the seed. "
                f"Received: the arm {self.arm.name!r}"
            )
        optimizer = [
            np.asarray(variable.value) for variable in self.optimizer.variables
        ]
        return _State(
            [np.stack(each) for each in zip(*(starts[s] for s in seeds), strict=True)],
            first,
            [np.stack([each] * len(seeds)) for each in optimizer],
        )

    def _start(self, seed: int) -> _State:
        """Return the initial state of one network."""
        many = self._starts([seed])
        first = partial(jax.tree.map, lambda each: each[0])
        return _State(first(many.trainable), many.fixed, first(many.optimizer))

    def _apply(self, trainable: Any, fixed: Any) -> Any:
        def apply(x: Any) -> Any:
            y, _ = self.model.stateless_call(trainable, fixed, x, training=False)
            return y

        return apply

    def _mode(self) -> contextlib.AbstractContextManager[None]:
        forward = self.problem.forward_mode
        return plain_differentiation() if forward else contextlib.nullcontext()

    def _errors(self, state: _State, held: Any) -> Any:
        apply = self._apply(state.trainable, state.fixed)
        with self._mode():
            validation = self.problem.validation(apply, held)
            return jnp.stack([validation, self.problem.error(apply, held)])

    def _run(
        self, state: _State, data: Any, rate: Any, seed: Any, steps: Any, phase: Any
    ) -> _State:
        """Train one network for one phase."""
        key = jax.random.fold_in(jax.random.key(seed), phase)
        place = self._place
        rows = len(next(iter(data.values())))

        def step(i: Any, state: _State) -> _State:
            batch = data
            if self.settings.batch:
                chosen = jax.random.fold_in(key, i)
                chosen = jax.random.randint(chosen, (self.settings.batch,), 0, rows)
                batch = {name: array[chosen] for name, array in data.items()}

            def loss(trainable: Any) -> Any:
                with self._mode():
                    apply = self._apply(trainable, state.fixed)
                    return self.problem.loss(apply, batch)

            gradients = jax.grad(loss)(state.trainable)
            now = rate * self._schedule(i, steps)
            variables = list(state.optimizer)
            variables[place] = now.astype(variables[place].dtype)
            trainable, variables = self.optimizer.stateless_apply(
                variables, gradients, state.trainable
            )
            return _State(trainable, state.fixed, variables)

        return jax.lax.fori_loop(0, steps, step, state)

    def _schedule(self, i: Any, steps: Any) -> Any:
        if not self.settings.decay:
            return jnp.float32(1.0)
        return 0.5 * (1 + jnp.cos(jnp.pi * i / steps))

    def _inspect(self, state: _State, place: int) -> dict[str, float]:
        if self.problem.inspect is None:
            return {}
        pairs = zip(self.model.trainable_variables, state.trainable, strict=True)
        for variable, values in pairs:
            variable.assign(values[place])
        return self.problem.inspect(self.model)
