"""Helpers for all other packages: checks, optional imports, atomic files, tables."""

from keras_vaf.utils.checks import (
    check_choice,
    check_distinct,
    check_flag,
    did_you_mean,
)
from keras_vaf.utils.extras import require
from keras_vaf.utils.files import (
    atomic_path,
    check_output,
    set_aside,
    write_atomically,
)
from keras_vaf.utils.hashing import checksum
from keras_vaf.utils.number_checks import (
    check_integer,
    check_number,
    check_numbers,
    check_positive,
    check_seeds,
    check_sizes,
)
from keras_vaf.utils.pictures import png_bytes
from keras_vaf.utils.statistics import deviation
from keras_vaf.utils.structures import (
    AnyFloat,
    build,
    check_kind,
    check_kinds,
    class_of,
    parse_json,
)
from keras_vaf.utils.text import markdown_table, readable, visible

__all__ = [
    "AnyFloat",
    "atomic_path",
    "build",
    "check_choice",
    "check_distinct",
    "check_flag",
    "check_integer",
    "check_kind",
    "check_kinds",
    "check_number",
    "check_numbers",
    "check_output",
    "check_positive",
    "check_seeds",
    "check_sizes",
    "checksum",
    "class_of",
    "deviation",
    "did_you_mean",
    "markdown_table",
    "parse_json",
    "png_bytes",
    "readable",
    "require",
    "set_aside",
    "visible",
    "write_atomically",
]
