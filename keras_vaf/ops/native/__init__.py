"""Native kernels, C++ code in `src`, and their bindings for each framework.

`case_of` decides which calls use the kernels. All other calls use the framework's own
operators, with equal results. `plain_operators` switches the kernels off.
"""

from keras_vaf.ops.native.case import Case, case_of
from keras_vaf.ops.native.switch import plain_operators

__all__ = ["Case", "case_of", "plain_operators"]
