"""Five tables as people have them, for the commands. Each is made from a seed."""

import numpy as np

ROWS = 60


def german(number, decimals=2):
    """Return a number with a decimal comma and points between thousands."""
    return f"{number:,.{decimals}f}".translate(str.maketrans(",.", ".,"))


def _lines(separator, header, columns):
    rows = zip(*columns, strict=True)
    lines = [header, *(separator.join(map(str, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def money():
    """Prices in dollars, percentages and counts with commas between thousands."""
    draw = np.random.default_rng(0)
    size = draw.uniform(500, 4000, ROWS)
    price = 150 * size + draw.normal(0, 20_000, ROWS)
    return _lines(
        ",",
        "sqft,tax,views,price",
        [
            [f'"{n:,.1f}"' for n in size],
            [f"{n:.2f}%" for n in draw.uniform(0.5, 2, ROWS)],
            [f'"{n:,}"' for n in draw.integers(1_000_000, 2_000_000, ROWS)],
            [f'"${n:,.2f}"' for n in price],
        ],
    )


def dates():
    """Dates of two formats, one of them missing, and a word among the numbers."""
    draw = np.random.default_rng(1)
    days = draw.integers(1, 29, ROWS)
    value = days + draw.normal(size=ROWS).round(2)
    return _lines(
        ",",
        "sold,paid,amount,value",
        [
            [f"{day:02}.03.2024" for day in days],
            ["", *(f"2024-04-{day:02} 12:30" for day in days[1:])],
            ["unknown", *days[1:]],
            value,
        ],
    )


def flats():
    """A German table: semicolons, decimal commas, euros, postal codes and k.A."""
    draw = np.random.default_rng(2)
    area = draw.uniform(30, 150, ROWS)
    price = 3000 * area + draw.normal(0, 20_000, ROWS)
    costs = [f"{german(2 * n)} €" for n in area]
    costs[3:9:2] = ["k.A.", "-", "k.A."]
    target = [f"{german(n)} €" for n in price]
    target[5] = "k.A."
    return "\ufeff" + _lines(
        ";",
        "PLZ;Fläche;Miete;Nebenkosten;Rabatt;verkauft;Balkon;Preis",
        [
            draw.choice(["01067", "10115", "80331"], ROWS),
            [german(n, 1) for n in area],
            [f"{german(12 * n)} €" for n in area],
            costs,
            [f"{n},5 %" for n in draw.integers(0, 9, ROWS)],
            [f"{n % 28 + 1:02}.12.2024" for n in range(ROWS)],
            draw.choice(["ja", "nein"], ROWS),
            target,
        ],
    )


def passengers():
    """Like the passengers of the Titanic: names, tickets, missing ages, classes."""
    draw = np.random.default_rng(3)
    age = [f"{n:.0f}" for n in draw.uniform(1, 80, ROWS)]
    age[::6] = [""] * len(age[::6])
    return _lines(
        ",",
        "PassengerId,Survived,Pclass,Name,Sex,Age,Fare,Embarked",
        [
            range(1, ROWS + 1),
            draw.integers(0, 2, ROWS),
            draw.integers(1, 4, ROWS),
            [f'"Doe, Mr. {n}"' for n in range(ROWS)],
            draw.choice(["male", "female"], ROWS),
            age,
            draw.uniform(5, 500, ROWS).round(4),
            draw.choice(["S", "C", ""], ROWS),
        ],
    )


def wide():
    """120 columns, of which one is empty, one constant and one has infinity."""
    draw = np.random.default_rng(4)
    numbers = draw.normal(size=(120, ROWS)).round(3)
    columns = [[*column] for column in numbers]
    columns[7], columns[8] = [""] * ROWS, [1] * ROWS
    columns[9][4] = "inf"
    names = ",".join(f"c{place}" for place in range(120))
    return _lines(",", f"{names},y", [*columns, numbers[0] - numbers[1]])


TABLES = {
    "money": (money, "price", 1),
    "dates": (dates, "value", 2),
    "flats": (flats, "Preis", 1),
    "passengers": (passengers, "Survived", 1),
    "wide": (wide, "y", 2),
}
"""Function, target and number of runs until the first training, by name."""
