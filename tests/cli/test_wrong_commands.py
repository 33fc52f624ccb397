"""Each wrong value of each option is refused in a line that names it.

The commands are generated: those of a table, of a model and of the paper, with each of
their options, and values that are wrong for its kind. Training is left out.
"""

import re
import shlex
import urllib.request
from pathlib import Path

import pytest

from keras_vaf.experiments import comparison
from keras_vaf.experiments import run as running
from keras_vaf.models import convert
from keras_vaf.paper import reproduction
from keras_vaf_cli import COMMANDS
from tests.models.networks import sequential

pytestmark = pytest.mark.backend("tensorflow")

LINES = {
    "compare": "compare t.csv --target y",
    "search": "search t.csv --target y",
    "convert": "convert model.keras -o out.keras",
    "inspect": "inspect vaf.keras",
    "simplify": "simplify vaf.keras -o out.keras",
    "freeze": "freeze vaf.keras -o out.keras",
    "to-relu": "to-relu model.keras -o out.keras",
    "predict": "predict best.keras t.csv -o out.csv",
    "data": "data",
    "reproduce": "reproduce classification",
}
NAMES = ("nope", "a\nb", "a\rb", "", ",", "x" * 140_000, '"', "\x00", "é\udcff")
COUNTS = ("nope", "0", "-1", "1.5", "444444444444", "1e400", "nan", "")
WRONG = {
    **dict.fromkeys(("categories", "ignore", "na", "layers"), NAMES[1:5]),
    **dict.fromkeys(("datasets", "activations", "baselines"), NAMES[:5]),
    **dict.fromkeys(("groups", "time", "target", "task", "missing", "dates"), NAMES),
    **dict.fromkeys(("encoding", "g", "to", "sharing"), NAMES),
    **dict.fromkeys(("decimal", "sheet", "separator"), ("",)),
    **dict.fromkeys(("selection", "tuner"), NAMES),
    **dict.fromkeys(("folds", "epochs", "k", "trials", "jobs"), COUNTS[:4]),
    "hidden": COUNTS,
    "learning-rates": ("nope", "0", "-1", "nan", "inf", "", "0.1,0.1"),
    "seeds": ("nope", "-1", "444444444444", "0,0", ""),
    "seed": ("nope", "-1", "1.5", "444444444444"),
    "tolerance": ("nope", "0", "-1", "nan", "inf", ""),
    "data-dir": ("nodir", "t.csv"),
    "formula": ("nope",),
    "picture": ("p.nope", "nodir/p.png", "model.keras", "."),
}
PAIRS = (
    ("compare t.csv --target y --ignore y", "`--target` must not be in `--ignore`"),
    ("compare t.csv --target y --groups a --time b", "not by both"),
    ("compare wine --data-dir nodir", "`--data-dir` must be a folder"),
    ("convert model.keras -o out.keras --to KAF --k 4", "are arguments of VAFActi"),
    ("convert model.keras -o out.keras --to kav", "Did you mean 'KAF'"),
    ("to-relu model.keras -o out.keras --k 1", "k >= 2"),
    ("simplify model.keras -o out.keras", "trainable activation"),
    ("inspect model.keras", "trainable activation"),
    ("inspect damaged.keras", "damaged.keras is damaged or not a model"),
    ("data --data-dir nodir", "`--data-dir` is for datasets that are named"),
    ("compare t.csv --target y --missing nope", "'drop'. Received"),
    ("compare t.csv --target y --hidden 444444444444", "`--hidden` must be.*10,000"),
)


def lines():
    """Yield an option, a wrong value, and the words of a command line."""
    for command in COMMANDS:
        name = command.__name__.rpartition(".")[2].replace("_", "-")
        for option in (o for names in command.ARGUMENTS.values() for o in names):
            for value in WRONG.get(option.removeprefix("--"), ()):
                if name in LINES:
                    words = shlex.split(LINES[name])
                    yield option, value, [*words, f"{option}={value}"]


@pytest.fixture
def table(tmp_path):
    """Write a table where `run` runs."""
    rows = "".join(f"{n},{n * n % 7},{n % 5}.5\n" for n in range(40))
    (tmp_path / "t.csv").write_text(f"a,b,y\n{rows}")


@pytest.fixture
def best(run, table, tmp_path):
    """Train a best.keras where `run` runs."""
    quick = "--folds 2 --epochs 1 --hidden 2 --activations relu --learning-rates 0.01"
    assert run(f"compare t.csv --target y {quick} --output o")[0] == 0
    [path] = tmp_path.rglob("best.keras")
    path.rename(tmp_path / "best.keras")


@pytest.fixture
def files(run, table, tmp_path, monkeypatch):
    """Write models where `run` runs, and let nothing be trained."""
    sequential().save(tmp_path / "model.keras")
    convert(sequential()).save(tmp_path / "vaf.keras")
    (tmp_path / "damaged.keras").write_bytes(b"PK\x03\x04 and no more")

    def train(*args, **kwargs):
        raise ValueError("this trains")

    monkeypatch.setenv("KERAS_HOME", str(tmp_path))  # nothing is fetched
    monkeypatch.setattr(urllib.request, "urlopen", train)
    for module in (comparison, reproduction, running):
        monkeypatch.setattr(module, "train_missing", train)


def test_each_wrong_value_is_refused_by_the_name_of_its_option(run, best, files):
    tried = list(lines())
    assert len(tried) > 250
    for option, value, words in tried:
        code, _, errors = run(shlex.join(words))
        assert code == 2, words
        assert "this trains" not in errors, words
        named = option in errors or repr(value)[1:-1][:60] in errors
        named = named or value in ("nodir/p.png", ".")  # a file of the machine
        assert named, (words, errors)
    assert not [*Path().glob("out.*")]


@pytest.mark.parametrize(("line", "expected"), PAIRS)
def test_arguments_that_do_not_go_together(run, files, line, expected):
    code, _, errors = run(line)
    assert code == 2
    assert re.search(expected, errors), errors
