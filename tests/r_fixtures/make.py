"""Make the rows that R and we are given: ``python make.py``, then ``Rscript make.R``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def write(name: str, columns: dict) -> None:
    rows = np.column_stack(list(columns.values()))
    np.savetxt(HERE / name, rows, fmt="%.6g", delimiter=",", header=",".join(columns), comments="")


def main() -> None:
    rng = np.random.default_rng(20)
    n = 180
    age, dose = rng.normal(50, 10, size=n).round(1), rng.exponential(2, size=n).round(3)
    treated, group = rng.integers(0, 2, size=n), np.arange(n) // 4
    latent = 0.05 * (age - 50) - 0.3 * dose + 0.9 * treated + rng.logistic(size=n)
    grade = 1 + np.searchsorted([-1.5, 0.0, 1.5], latent)
    weight = rng.uniform(0.5, 2.0, size=n).round(3)
    write(
        "grades.csv",
        {
            "age": age,
            "dose": dose,
            "treated": treated,
            "group": group,
            "weight": weight,
            "grade": grade,
        },
    )
    rng = np.random.default_rng(21)
    n = 240
    temp, contact, judge = (rng.integers(0, 2, size=n) for _ in range(3))
    # The effect of contact differs by threshold: odds are not proportional in it.
    latent = 1.2 * temp + rng.logistic(size=n) * np.where(contact == 1, 2.0, 1.0)
    rating = 1 + np.searchsorted([-1.5, 0.0, 1.0, 2.5], latent + 0.5 * contact)
    count = rng.integers(1, 6, size=n)
    write(
        "ratings.csv",
        {"temp": temp, "contact": contact, "judge": judge, "count": count, "rating": rating},
    )
    rng = np.random.default_rng(22)
    n, p = 300, 5
    X = rng.normal(size=(n, p)).round(4)
    noise = rng.standard_t(3, size=n)
    stage = 1 + np.searchsorted([-0.8, 0.8], X @ [0.8, -0.4, 0.2, 0.0, 0.0] + noise)
    write("stages.csv", {**{f"x{j}": X[:, j] for j in range(p)}, "stage": stage})


if __name__ == "__main__":
    main()
