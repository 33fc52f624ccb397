"""The paper's experiments, which the rest of the package never imports.

`keras-vaf reproduce` is their command.
"""
