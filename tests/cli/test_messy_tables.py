"""Tables as people have them reach the first training in at most two runs."""

import shlex
import subprocess
import sys

import numpy as np
import pytest

from keras_vaf.datasets import TableError, read_table
from keras_vaf_cli import main
from keras_vaf_cli.tables import _joined, column_names
from tests.cli.messy_tables import ROWS, TABLES, german

pytestmark = pytest.mark.backend("torch")  # which compiles nothing

QUICK = "--activations relu --folds 2 --epochs 1 --hidden 2 --learning-rates 0.01"


@pytest.mark.parametrize("name", TABLES)
def test_a_messy_table_is_trained_in_one_or_two_runs(
    name, tmp_path, capsys, monkeypatch
):
    make, target, runs = TABLES[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{name}.csv").write_text(make(), encoding="utf-8")
    words = shlex.split(f"compare {name}.csv --target {target} {QUICK}")
    for run in range(1, runs + 1):
        code = main(words)
        output = capsys.readouterr()
        if run < runs:
            assert code == 2
            _, *words = shlex.split(output.err.splitlines()[-1])
    assert code == 0, output.err
    assert "best.keras is the network with ReLU" in output.out


def read(name, tmp_path, **options):
    make, target, _ = TABLES[name]
    path = tmp_path / f"{name}.csv"
    path.write_text(make(), encoding="utf-8")
    return read_table(path, target, **options)


def test_the_values_are_those_that_were_written(tmp_path):
    draw = np.random.default_rng(2)
    area = draw.uniform(30, 150, ROWS)
    price = 3000 * area + draw.normal(0, 20_000, ROWS)
    kept = np.arange(ROWS) != 5
    dataset = read("flats", tmp_path)
    np.testing.assert_allclose(dataset.y, price[kept].round(2), rtol=1e-6)
    rent = dataset.x[:, dataset.feature_names.index("Miete")]
    np.testing.assert_allclose(rent, (12 * area[kept]).round(2), rtol=1e-6)
    costs = dataset.x[:, dataset.feature_names.index("Nebenkosten")]
    assert np.isnan(costs).sum() == 2  # the third word is in the row without a price
    assert german(1234.5) == "1.234,50"


def test_one_message_lists_everything_odd(tmp_path):
    make, target, _ = TABLES["flats"]
    lines = make().splitlines()
    lines[2] = lines[2].replace("ja", "ja", 1).replace(" €", " $", 1)
    cells = lines[4].split(";")
    cells[1], cells[5], cells[7] = "groß", "bald", "teuer"
    lines[4] = ";".join(cells)
    path = tmp_path / "flats.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(TableError) as raised:
        read_table(path, target)
    said = str(raised.value)
    for column, cell in (("Fläche", "groß"), ("verkauft", "bald"), ("Preis", "teuer")):
        assert f"column {column!r}" in said
        assert repr(cell) in said
    options = {k: v for k, v in raised.value.fixes.items() if k != "allow_missing"}
    assert len(read_table(path, target, **options).x) >= ROWS - 3


def test_names_in_an_advised_command_are_read_back():
    names = ('a"b,c', " x", "a\nb", '5"', "ä\r")
    assert column_names(_joined(names)) == names


def test_a_refusal_needs_no_keras(tmp_path):
    (tmp_path / "table.csv").write_text("a,y\n1,2\n")
    code = (
        "import sys; from keras_vaf_cli import main; "
        "code = main(['compare', 'table.csv', '--target', 'price']); "
        "print(code, 'keras' in sys.modules, 'torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "2 False False\n"
    assert "no column 'price'" in done.stderr
