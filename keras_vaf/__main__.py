"""`python -m keras_vaf` is `keras-vaf`."""

import runpy

if __name__ == "__main__":
    runpy.run_module("keras_vaf_cli", run_name="__main__", alter_sys=True)
