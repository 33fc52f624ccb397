"""Helpers for all other packages: checks, optional imports, safe files, text.

They are private: no page lists them, and they change without notice.
"""
# ruff: noqa: F401

from keras_vaf.utils.checks import (
    MOST_UNITS,
    check_choice,
    check_distinct,
    check_flag,
    check_integer,
    check_json,
    check_kind,
    check_kinds,
    check_number,
    check_numbers,
    check_positive,
    check_seeds,
    check_sizes,
    class_of,
    did_you_mean,
)
from keras_vaf.utils.extras import require
from keras_vaf.utils.files import atomic_path, check_output, write_atomically
from keras_vaf.utils.text import (
    checksum,
    deviation,
    markdown_table,
    png_bytes,
    readable,
    visible,
)
