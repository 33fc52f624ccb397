"""`convolution_bound`, a proven bound on the norm of a convolution."""

import math

import numpy as np

_LARGEST = 65_536  # frequencies


def convolution_bound(kernel: np.ndarray, groups: int = 1) -> float:
    """Return a bound on the spectral norm of a convolution, for images of every size.

    A convolution with zero padding and strides is a part of the convolution of infinite
    images. The norm of that one is the largest norm of its symbol K(w), the Fourier
    transform of the kernel, over all frequencies w. Here K is evaluated on a grid. For
    fixed unit vectors, |u K(w) v|^2 is a trigonometric polynomial of degree
    s_i - 1 in w_i, for a kernel of s_i places along axis i. By Bernstein's inequality
    its second derivative towards the nearest point of a grid of n points is at most its
    maximum times (sum_i (s_i - 1) pi / n)^2, and its first derivative at the maximum is
    0. So the maximum over all w is at most that over the grid divided by
    1 - (sum_i (s_i - 1) pi / n)^2 / 2.

    Args:
        kernel: Of shape `(*places, input channels of a group, filters)`.
        groups: Number of groups of channels.

    Returns:
        The bound, for every stride and dilation.
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
    """Return the number of grid points along an axis; the bound needs degree * pi."""
    wanted = max(16 * degree, 1)
    most = int(_LARGEST ** (1 / axes))
    least = 4 * degree  # then the bound is within 1.5 times the norm
    return max(min(wanted, most), least, 1)
