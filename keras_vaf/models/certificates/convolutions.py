"""`convolution_bound`, a proven bound on the norm of a convolution."""

import math

import numpy as np

_LARGEST = 65_536  # frequencies


def convolution_bound(kernel: np.ndarray, groups: int = 1) -> float:
    """Return a bound on the spectral norm of a convolution, for images of every size.

    A convolution with zero padding and strides is a restriction of the convolution of
    infinite images. The norm of the latter is the largest norm of its symbol K(w), the
    Fourier transform of the kernel, over all frequencies w. The function evaluates K on
    a grid. For fixed unit vectors u and v, |u K(w) v|^2 is a trigonometric polynomial
    of degree s_i - 1 in w_i, where s_i is the size of the kernel along axis i. Its
    first derivative at the maximum is 0. By Bernstein's inequality, its second
    derivative towards the nearest point of a grid of n points is at most its maximum
    times (sum_i (s_i - 1) pi / n)^2. Therefore the maximum over all w is at most the
    maximum over the grid divided by 1 - (sum_i (s_i - 1) pi / n)^2 / 2.

    Args:
        kernel: Kernel of shape `(*window, input channels of a group, filters)`.
        groups: Number of groups of channels.

    Returns:
        The bound, which holds for every stride and dilation.
    """
    kernel = np.asarray(kernel, "float64")
    places, (inputs, filters) = kernel.shape[:-2], kernel.shape[-2:]
    degree = sum(size - 1 for size in places)
    points = _points(degree, len(places))
    symbol = np.fft.fftn(kernel, (points,) * len(places), tuple(range(len(places))))
    symbol = symbol.reshape(-1, inputs, groups, filters // groups)
    symbol = np.moveaxis(symbol, 2, 1)
    largest = max(
        np.linalg.norm(part, 2, axis=(-2, -1)).max()
        for part in np.array_split(symbol, max(1, len(symbol) // 256))
    )
    return float(largest / math.sqrt(1 - (degree * math.pi / points) ** 2 / 2))


def _points(degree: int, axes: int) -> int:
    """Return the number of grid points along an axis, more than degree * pi."""
    wanted = max(16 * degree, 1)
    most = int(_LARGEST ** (1 / axes))
    least = 4 * degree  # then the bound is at most 1.5 times the norm
    return max(min(wanted, most), least, 1)
