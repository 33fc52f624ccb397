"""Native kernels, C++ code in `src`: `find` loads them, `case_of` says what they do."""
