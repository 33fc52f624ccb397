"""`Rprop`, resilient backpropagation, which uses only the signs of gradients."""

from typing import Any

import keras
from keras import ops

from keras_vaf.utils import check_choice, check_number, check_positive


@keras.saving.register_keras_serializable(package="keras_vaf")
class Rprop(keras.optimizers.Optimizer):
    """Resilient backpropagation (Riedmiller and Braun, 1993), for full batches.

    Formula:

    ```
    w = w - step * sign(gradient)
    ```

    The step of a weight grows by `eta_plus` while the sign of its gradient stays the
    same. When the sign changes, the step shrinks by `eta_minus`, and the next update
    does not change it. With `"irprop-"` (iRprop- of Igel and Hüsken, 2003, and
    `torch.optim.Rprop`) the weight does not move then; `"rprop+"` (the original, with
    weight backtracking) reverts the last move. The gradients must be those of the whole
    training set: the noise of mini-batches shrinks the steps.

    Args:
        learning_rate: The first step of every weight, a number, schedule or callable.
        eta_plus: Factor by which a step grows, above 1.
        eta_minus: Factor by which a step shrinks, between 0 and 1.
        min_step: Smallest step, above 0.
        max_step: Largest step.
        variant: `"irprop-"` or `"rprop+"`.
        name: Name of the optimizer.
        **kwargs: Arguments of `keras.optimizers.Optimizer`. Weight decay is
            `learning_rate * weight_decay` per update, independent of the steps.

    Raises:
        ValueError: If a factor or a step is out of range, or the variant is unknown.

    Example:

    >>> model = keras.Sequential([keras.Input((13,)), keras.layers.Dense(3)])
    >>> model.compile(optimizer=Rprop(eta_plus=1.01), loss="mse")
    """

    def __init__(
        self,
        learning_rate: Any = 0.01,
        eta_plus: float = 1.2,
        eta_minus: float = 0.5,
        min_step: float = 1e-6,
        max_step: float = 50.0,
        variant: str = "irprop-",
        name: str = "rprop",
        **kwargs: Any,
    ) -> None:
        if isinstance(learning_rate, int | float):
            check_positive("learning_rate", learning_rate)
        check_number("eta_plus", eta_plus, above=1)
        check_number("eta_minus", eta_minus, above=0, below=1)
        check_number("max_step", max_step, minimum=check_positive("min_step", min_step))
        check_choice("variant", variant, ("irprop-", "rprop+"))
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.eta_plus, self.eta_minus = eta_plus, eta_minus
        self.min_step, self.max_step = min_step, max_step
        self.variant = variant

    def build(self, variables: list[keras.Variable]) -> None:
        """Create the steps and the last gradients of the model's variables."""
        if self.built:
            return
        super().build(variables)
        # A step of 0 means that the first update uses the learning rate at that time.
        self._steps = self.add_optimizer_variables(variables, "step")
        self._last_gradients = self.add_optimizer_variables(variables, "last_gradient")
        if self.variant == "rprop+":
            self._last_moves = self.add_optimizer_variables(variables, "last_move")

    def update_step(
        self, gradient: Any, variable: keras.Variable, learning_rate: Any
    ) -> None:
        """Move one variable by its gradient; the learning rate is the first step."""
        index = self._get_variable_index(variable)
        last_gradient = ops.convert_to_tensor(self._last_gradients[index])
        # On TensorFlow, gradients of embeddings are sparse. The sum is dense.
        gradient = ops.cast(gradient, variable.dtype)
        gradient = ops.add(gradient, ops.zeros_like(last_gradient))
        # As in PyTorch: the sign of the product, not the product of the signs.
        agreement = ops.sign(gradient * last_gradient)
        step = ops.convert_to_tensor(self._steps[index])
        step = ops.where(step > 0, step, ops.cast(learning_rate, step.dtype))
        grown = ops.where(agreement > 0, step * self.eta_plus, step)
        step = ops.where(agreement < 0, step * self.eta_minus, grown)
        step = ops.clip(step, self.min_step, self.max_step)
        gradient = ops.where(agreement < 0, ops.zeros_like(gradient), gradient)
        move = -ops.sign(gradient) * step
        if self.variant == "rprop+":
            move = ops.where(agreement < 0, -self._last_moves[index], move)
            self.assign(self._last_moves[index], move)
        self.assign(self._steps[index], step)
        self.assign(self._last_gradients[index], gradient)
        self.assign_add(variable, move)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        names = ("eta_plus", "eta_minus", "min_step", "max_step", "variant")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}
