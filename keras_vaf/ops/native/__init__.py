"""Native kernels, C++ code in `src`, and their bindings for each framework.

`case_of` decides which calls use the kernels. All other calls use the framework's own
operators, with equal results.
"""

from keras_vaf.ops.native.case import Case, case_of

__all__ = ["Case", "case_of"]
