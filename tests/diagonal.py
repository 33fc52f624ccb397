"""`outside_diagonal`, the cases of crossed tests that only a night runs."""


def outside_diagonal(items):
    """Return the collected tests that a change need not run."""
    tests = {}
    for item in items:
        if hasattr(item, "callspec"):
            tests.setdefault((item.path, item.nodeid.split("[")[0]), []).append(item)
    left_out = set()
    for cases in tests.values():
        kept = diagonal([_parts(item) for item in cases])
        left_out |= {item for item, keep in zip(cases, kept, strict=True) if not keep}
    return left_out


def diagonal(rows):
    """Return for each case of a crossed test whether it is on the diagonal.

    A test over 38 activations, 3 ways of sharing and 2 shapes has 228 cases. The
    diagonal has 38: with the next activation comes the next sharing and the next shape.
    A value that the diagonal does not meet, because cases are missing, keeps one case.

    Args:
        rows: The values of each case.
    """
    columns = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    turns = range(max(map(len, columns)))
    wanted = {tuple(column[n % len(column)] for column in columns) for n in turns}
    met = {part for row in rows if row in wanted for part in enumerate(row)}
    kept = []
    for row in rows:
        kept.append(row in wanted or not met.issuperset(enumerate(row)))
        met.update(enumerate(row))
    return kept


def _parts(item):
    """Return what tells the values of each `parametrize` of a test apart."""
    values = {name: id(value) for name, value in item.callspec.params.items()}
    parts = []
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0]
        names = names.split(",") if isinstance(names, str) else names
        parts.append(tuple(values.pop(name.strip()) for name in names))
    return (*parts, *((value,) for value in values.values()))
