"""The optional native kernels, which the package `keras-vaf-kernels` brings.

`case_of` decides which calls they take. Every other call runs on the framework's own
operators, with equal results. `plain_operators` leaves the kernels out.
"""

from keras_vaf.ops.native.case import Case, case_of
from keras_vaf.ops.native.switch import plain_operators

__all__ = ["Case", "case_of", "plain_operators"]
