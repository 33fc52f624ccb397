"""A process that measures one variant, one repetition at a time, as it is told.

Its argument is the case. It writes one line of JSON with its tasks and facts, and then
one line with a number for each line that it reads, the name of a task.
"""

import json
import os
import sys
from typing import Any

from benchmarks.speed.cases import Activation, Case


def main(argument: str) -> None:
    fields = json.loads(argument)
    activation = Activation(**fields.pop("activation"))
    case = Case(activation=activation, **fields)
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def answer(value: Any) -> None:
        print(json.dumps(value), file=answers, flush=True)

    from benchmarks.speed.work import work_of

    work = work_of(case)
    answer({"tasks": list(work.tasks), "facts": work.facts})
    for line in sys.stdin:
        answer(work.tasks[line.strip()]())


if __name__ == "__main__":
    main(sys.argv[1])
