"""Tables as people have them reach the first training, or get a sentence."""

import re

import numpy as np
import pytest

from keras_vaf.experiments import records

pytestmark = pytest.mark.backend("torch")  # which compiles nothing

ROWS = 40
QUICK = "--activations relu --learning-rates 0.01 --folds 2 --epochs 1 --hidden 2"


def german(number):
    """Return a number with a decimal comma and points between thousands."""
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


def flats(**other):
    """Return a German table: postal codes, euros, percentages, dates and k.A."""
    draw = np.random.default_rng(2)
    area = draw.uniform(30, 150, ROWS)
    columns = {
        "PLZ": draw.choice(["01067", "10115", "80331"], ROWS),
        "Fläche": [german(n) for n in area],
        "Nebenkosten": ["k.A.", *(f"{german(20 * n)} €" for n in area[1:])],
        "Rabatt": [f"{n},5 %" for n in draw.integers(0, 9, ROWS)],
        "verkauft": [f"{n % 28 + 1:02}.12.2024" for n in range(ROWS)],
        "Balkon": draw.choice(["ja", "nein"], ROWS),
        "gleich": [7] * ROWS,
        "Haus": [f"Nr. {n}" for n in range(ROWS)],
        "Preis": [f"{german(3000 * n + draw.normal())} €" for n in area],
    } | other
    lines = [columns, *zip(*columns.values(), strict=True)]
    return "\n".join(";".join(map(str, line)) for line in lines)


def test_a_messy_table_is_trained_as_it_comes(run, tmp_path):
    (tmp_path / "flats.csv").write_text(flats(), encoding="utf-8-sig")
    options = "--target Preis --time verkauft --missing drop"
    line = f"compare flats.csv {options} {QUICK} --activations relu,vaf-relu"
    code, output, errors = run(line)
    assert code == 0, errors
    for text in (
        "flats.csv: 40 of 40 rows have a target (decimal mark ',', separator ';', utf",
        "Target 'Preis': regression",
        "Nebenkosten (1.234,5 €), Rabatt (1.234,5 %)",
        "PLZ (3), Balkon (2)",
        "rows: Nebenkosten (1).",
        "Left out column 'gleich': it has one value",
        "Left out column 'Haus': its text differs in most rows",
        "RMSE on flats, hidden layers 2",
        "ridge regression",
        "Two folds cannot tell",
        f"trained again on all {ROWS - 1} rows",
    ):
        assert text in output, output
    assert re.search(r"^(Use|Try) .*: .*\..*\.$", output, re.M)  # two sentences
    [folder] = tmp_path.glob("runs/flats-*")
    assert f"keras-vaf predict {folder.relative_to(tmp_path)}/best.keras" in output
    assert "Warning" not in errors
    assert "gradient boosted trees, seed 0: 8 of 8 in" in errors
    assert run(line)[:2] == (0, output)
    assert len(records("runs")) == 8


@pytest.mark.parametrize("command", ["compare", "search"])
def test_a_table_is_refused_with_one_sentence(refusal, tmp_path, command):
    path = tmp_path / "flats.csv"
    line = f"{command} flats.csv --target Preis"
    path.write_text(flats(Fläche=["many", *range(1, ROWS)]))
    said = refusal(line)
    assert "row 2: column 'Fläche' must hold finite numbers" in said
    assert "(`--na` names missing entries). Received: 'many'" in said
    path.write_text("\n".join(flats().split("\n")[:4]))
    assert "3 rows with a target" in refusal(line)
    path.write_text("\n".join(flats().split("\n")[1:]))
    assert "use `--no-header`" in refusal(line)


def test_a_file_without_names_has_numbered_columns(run, tmp_path):
    text = "".join(f"{n % 7}.25\t{n % 5}.5\t{'ab'[n % 2]}\n" for n in range(ROWS))
    (tmp_path / "iris.data").write_text(text)
    options = "--target 3 --no-header --separator tab"
    code, output, errors = run(f"compare iris.data {options} {QUICK}")
    assert code == 0, errors
    assert "iris.data: 40 of 40 rows" in output
