"""`untried`, which names versions of a framework that the native kernels avoid.

The kernels call interfaces of each framework that may change. A wrong call may end
Python without a message. Kernels therefore bind to tried versions only.
"""

import re

TRIED = {
    "jax": ("0.8", "0.12"),
    "tensorflow": ("2.19", "2.21"),
    "torch": ("2.12", "2.15"),
}
"""Lowest and highest version of each framework on which the tests of the kernels ran.

The highest one stands for all its patch releases.
"""


def untried(framework: str, version: str) -> str:
    """Return why the kernels do not bind to a version of a framework, or `""`.

    Args:
        framework: One of the keys of `TRIED`.
        version: The version, such as `"2.13.0+cpu"`.
    """
    lowest, highest = TRIED[framework]
    numbers = _numbers(version)
    last = _numbers(highest)
    if _numbers(lowest) <= numbers and numbers[: len(last)] <= last:
        return ""
    return (
        f"they were tried with {framework} from {lowest} to {highest}, and "
        f"{version} is installed"
    )


def _numbers(version: str) -> list[int]:
    """Return the release of a version, without what `+` or letters add to it."""
    found = re.match(r"\d+(\.\d+)*", version)
    return [int(number) for number in found[0].split(".")] if found else []
