"""Tables of the pages hold what the committed reports hold."""

import importlib
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]
NAMES = {
    name
    for path in [ROOT / "README.md", *ROOT.glob("docs/*.md")]
    for name in re.findall(r"^<!-- report: (\S+) -->$", path.read_text("utf-8"), re.M)
}

BENCHMARK = """\
# Benchmark

## Training step of cnet_B, ms (and to ReLU)

|  | jax | tensorflow | torch |
| --- | ---: | ---: | ---: |
| ReLU | 2.00 (1.00) | 4.00 (1.00) |  |
| VAF, k=3, relu, layer | 3.00 (1.50) | 5.00 (1.25) |  |

## Compile time of cnet_B, s (and to ReLU)

|  | jax | tensorflow | torch |
| --- | ---: | ---: | ---: |
| ReLU | 1.00 (1.00) |  |  |
| VAF, k=3, relu, layer | 1.40 (1.40) |  |  |

## Training step of a small network, ms (and to ReLU)

|  | jax | tensorflow | torch |
| --- | ---: | ---: | ---: |
| ReLU | 0.20 (1.00) | 0.40 (1.00) |  |
| VAF, k=3, relu, layer | 0.30 (1.50) | 0.60 (1.50) |  |
"""

REPRODUCTION = """\
# Regression: protocol paper

| dataset | rows | activation | mean | deviation | published | {columns} |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| servo | 167 | constant | 0.50 | 0.00 |  |  |  |  |  |  |
| servo | 167 | relu | 0.30 | 0.01 | 0.35 ± 0.02 (25) |  |  |  |  |  |
| servo | 167 | vaf-random | 0.40 | 0.02 | 0.25 ± 0.02 (10) | {random} |
| servo | 167 | vaf-relu | 0.20 | 0.03 | 0.15 ± 0.02 (50) | {known} |
| servo | 167 | vaf-relu |  |  |  | best-fixed | -0.1 | 0.5 | 1.0 | (worse) |
| servo | 167 | relu-fair | 0.28 | 0.01 |  |  |  |  |  |  |
| servo | 167 | vaf-either | 0.21 | 0.03 |  | {either} |

- vaf-random against relu over 1 datasets: {few} p = 1 (Holm's correction).
- vaf-relu against relu over 1 datasets: {few} p < 0.001 (Holm's correction).
- vaf-relu against best-fixed over 1 datasets: {few} p = 1 (Holm's correction).
- vaf-either against relu-fair over 1 datasets: {few} p = 1 (Holm's).
"""


REPRODUCTION = REPRODUCTION.format(
    columns="against | gain | p | p (Holm) | direction",
    random="relu | -0.10 ± 0.30 | 0.700 | 0.700 | (worse)",
    known="relu | +0.10 ± 0.08 | < 0.001 | 0.002 | better*",
    either="relu-fair | +0.07 ± 0.09 | 0.080 | 0.080 | (better)",
    few="better on 1, worse on 0; 0.904 times the error; Wilcoxon signed-rank",
)

OURS = """\
# Regression: protocol ours

| dataset | rows | activation | rate | mean | deviation | against | direction | {last} |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| servo | 167 | constant |  | 0.50 | 0.00 |  |  |  |
| servo | 167 | relu | 0.01 | 0.30 | 0.01 |  |  | 40 |
| servo | 167 | prelu | 0.01 | 0.29 | 0.01 | relu | (better) | 50 |
| servo | 167 | relu-fair | 0.003 | 0.28 | 0.01 | relu | (better) | 30 |
| servo | 167 | best-fixed (silu) | 0.01 | 0.25 | 0.01 | relu | better* | 60 |
| servo | 167 | vaf-best (vaf-silu) | 0.01 | 0.24 | 0.02 | relu-fair | better* | 70 |
| servo | 167 | vaf-best (vaf-silu) |  |  |  | best-fixed | (better) |  |

- best-fixed against relu over 1 datasets: {few} p < 0.001 (Holm's correction).
- vaf-best against relu-fair over 1 datasets: {few} p < 0.001 (Holm's correction).
- vaf-best against best-fixed over 1 datasets: {few} p = 1 (Holm's correction).
""".format(
    few="better on 1, worse on 0; 0.904 times the error; Wilcoxon signed-rank",
    last="mean epochs",
)

CHOICES = """\
# {title}: choices: protocol paper

- vaf-k5 against vaf-relu over {count} datasets: better on {better}, worse on 1; \
0.951 times the error; Wilcoxon signed-rank p = {p} (Holm's correction).
- silu against vaf-silu over {count} datasets: better on 0, worse on 2; \
1.200 times the error; Wilcoxon signed-rank p = 0.5 (Holm's correction).
"""


@pytest.fixture
def files(monkeypatch):
    """The module that reads and writes tables."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    return importlib.import_module("report_files")


@pytest.fixture
def tables(files):
    """The module that puts them into pages."""
    return importlib.import_module("report_tables")


@pytest.fixture
def small(files, tmp_path, monkeypatch):
    """Small reports."""
    for name, text in {
        "benchmarks/cpu.md": BENCHMARK,
        "reproduction/regression-paper-validation-jax.md": REPRODUCTION,
        "reproduction/regression-ours-validation-jax.md": OURS,
        "reproduction/choices-classification-paper-validation-jax.md": CHOICES.format(
            title="Classification", count=6, better=4, p=0.03
        ),
        "reproduction/choices-regression-paper-validation-jax.md": CHOICES.format(
            title="Regression", count=3, better=2, p=0.25
        ),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(files, "REPORTS", tmp_path)


@pytest.mark.usefixtures("small")
def test_rows_are_those_of_the_table_below_the_heading(files):
    rows = files.rows_of("benchmarks/cpu.md", "Compile time")
    assert [row["jax"] for row in rows] == ["1.00 (1.00)", "1.40 (1.40)"]


@pytest.mark.usefixtures("small")
def test_a_table_that_is_missing_is_named(files):
    with pytest.raises(ValueError, match="heading 'Forward'"):
        files.rows_of("benchmarks/cpu.md", "Forward")


@pytest.mark.usefixtures("small")
def test_a_table_becomes_itself_again(files):
    rows = files.rows_of("reproduction/regression-paper-validation-jax.md")
    assert files.render(rows[:1]).splitlines()[2] == (
        "| servo | 167 | constant | 0.50 | 0.00 |  |  |  |  |  |  |"
    )


@pytest.mark.usefixtures("small")
def test_results_stand_side_by_side(tables):
    line = tables.NAMED["results"]().splitlines()[2]
    assert line == (
        "| servo | RMSE | 167 | 0.50 | 0.30 ± 0.01 | 0.29 ± 0.01 | 0.28 ± 0.01 "
        "| 0.25 ± 0.01 (SiLU) | 0.24 ± 0.02 (VAF, SiLU start) |"
    )


@pytest.mark.usefixtures("small")
def test_epochs_are_relative_to_those_of_relu(tables):
    head, _, *lines = tables.NAMED["epochs"]().splitlines()
    assert head == "| activation | regression |"
    assert lines == [
        "| ReLU | 1.00 |",
        "| PReLU | 1.25 |",
        "| ReLU of equal size and tries | 0.75 |",
    ]


@pytest.mark.usefixtures("small")
def test_the_headline_counts_the_datasets_of_the_main_comparisons(tables):
    _, _, *lines = tables.NAMED["headline"]().splitlines()
    counts = "0.90; 1 better, 0 worse, p"
    assert lines == [
        f"| best VAF | ReLU of equal size and tries | {counts} < 0.001 |",
        f"| best VAF | best fixed activation | {counts} = 1 |",
    ]


@pytest.mark.usefixtures("small")
def test_a_smaller_error_is_better_than_published(tables):
    head, _, line = tables.NAMED["equal-tries"]().splitlines()
    row = dict(zip(head.split(" | "), line.split(" | "), strict=True))
    assert row["published VAF"] == "0.15 ± 0.02 (50)"
    assert row["published gain"] == "+0.2000"
    assert row["VAF of either start"] == "0.21 ± 0.03"
    assert row["at or better than published |"] == "no |"


@pytest.mark.usefixtures("small")
def test_the_summary_counts_directions_of_each_pair(tables):
    _, _, *lines = tables.NAMED["summary-paper"]().splitlines()
    assert [line.split(" | ")[1:] for line in lines] == [
        ["VAF, random start", "ReLU", "0 (0)", "1 (0)", "0.90", "1 |"],
        ["VAF, ReLU start", "ReLU", "1 (1)", "0 (0)", "0.90", "< 0.001 |"],
        ["VAF, ReLU start", "best fixed activation", "0 (0)", "1 (0)", "0.90", "1 |"],
        [
            *("VAF, random or ReLU start", "ReLU of equal size and tries"),
            *("1 (0)", "0 (0)", "0.90", "1 |"),
        ],
    ]


@pytest.mark.usefixtures("small")
def test_backends_are_rows_and_those_without_numbers_are_left_out(tables):
    lines = tables.NAMED["backends"]().splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| JAX", "| TensorFlow"]
    assert "| 2.00 (1.00) | 3.00 (1.50) | 1.00 (1.00) | 1.40 (1.40) |" in lines[2]


@pytest.mark.usefixtures("small")
def test_a_line_that_names_a_report_becomes_it(tables):
    page = tables.fill("before\n\n<!-- report: results -->\n\nafter")
    assert page.startswith("before\n\n| dataset | score |")
    assert page.endswith("|\n\nafter")


@pytest.mark.usefixtures("small")
def test_reports_in_the_readme_are_brought_up_to_date(tables):
    old = "a\n<!-- report: results -->\n\nold\n\n<!-- end of report -->\nb\n"
    new = tables.refresh(old)
    assert "servo" in new
    assert "old" not in new
    assert new.startswith("a\n<!-- report: results -->\n\n|")
    assert new.endswith("|\n\n<!-- end of report -->\nb\n")
    assert tables.refresh(new) == new


@pytest.mark.usefixtures("small")
def test_choices_of_both_tables_stand_on_one_line(tables):
    head, _, *lines = tables.NAMED["choices"]().splitlines()
    assert head.count("better, worse of") == 2
    assert "classification: better, worse of 6" in head
    assert lines[0] == "| k = 5 | 0.95 | 4, 1 | 0.03 | 0.95 | 2, 1 | 0.25 |"
    assert lines[1].startswith("| fixed silu, against g = silu | 1.20 | 0, 2 |")


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_report_that_a_page_names_can_be_made(tables, name):
    text = tables.NAMED[name]()
    assert text.strip()
    for table in re.findall(r"(?:^\|.*\|\n?)+", text, re.M):
        assert len({line.count(" | ") for line in table.splitlines()}) == 1


def test_the_readme_is_up_to_date(tables):
    readme = tables.README.read_text(encoding="utf-8")
    assert "<!-- report: " in readme
    assert tables.refresh(readme) == readme, "Run `python docs/report_tables.py`."
