"""`outside_diagonal`, the cases of crossed tests that only a night runs."""


def outside_diagonal(items):
    """Return the cases of crossed tests that a change need not run.

    A test over 38 activations, 3 ways of sharing and 2 shapes has 228 cases. The
    diagonal has 38: with the next activation comes the next sharing and the next shape.
    A value that the diagonal does not meet, because cases are missing, keeps one case.

    Args:
        items: Collected tests of pytest.
    """
    tests = {}
    for item in items:
        if hasattr(item, "callspec"):
            tests.setdefault((item.path, item.nodeid.split("[")[0]), []).append(item)
    left_out = set()
    for cases in tests.values():
        rows = [_parts(item) for item in cases]
        wanted = _diagonal(rows)
        met = {part for row in rows if row in wanted for part in enumerate(row)}
        for item, row in zip(cases, rows, strict=True):
            if row not in wanted and met.issuperset(enumerate(row)):
                left_out.add(item)
            met.update(enumerate(row))
    return left_out


def _diagonal(rows):
    """Return the rows of the diagonal, whether or not there is a case for them."""
    columns = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    longest = max(map(len, columns))
    return {
        tuple(column[turn % len(column)] for column in columns)
        for turn in range(longest)
    }


def _parts(item):
    """Return what tells the values of each `parametrize` of a test apart."""
    values = {name: id(value) for name, value in item.callspec.params.items()}
    parts = []
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0]
        names = names.split(",") if isinstance(names, str) else names
        parts.append(tuple(values.pop(name.strip()) for name in names))
    return (*parts, *((value,) for value in values.values()))
