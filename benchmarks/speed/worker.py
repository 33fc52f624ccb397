"""A process that measures cases on demand, one repetition at a time.

Its argument holds the cases. It writes one line of JSON with their tasks and facts, and
then reads lines. Each of them holds the number of a case and the name of a task. For
each it writes one line with the result and the number of page faults.
"""

import json
import os
import resource
import sys
from typing import Any

from benchmarks.speed.cases import Activation, Case


def main(argument: str) -> None:
    cases = [
        Case(activation=Activation(**fields.pop("activation")), **fields)
        for fields in json.loads(argument)
    ]
    # Libraries must not print between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def answer(value: Any) -> None:
        print(json.dumps(value), file=answers, flush=True)

    from benchmarks.speed.work import work_of

    works = [work_of(case) for case in cases]
    answer(
        [work and {"tasks": list(work.tasks), "facts": work.facts} for work in works]
    )
    for line in sys.stdin:
        number, task = line.strip().split(" ", 1)
        work = works[int(number)]
        before = _page_faults()
        answer((work.tasks[task]() if work else None, _page_faults() - before))


def _page_faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


if __name__ == "__main__":
    main(sys.argv[1])
