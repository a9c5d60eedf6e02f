"""The report on the diabetes stages, and a picture of it: ``python docs/examples/report.py``.

100 of 442 rows keep their label. The picture needs chromium and playwright.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_diabetes

from semiordinal import AutoOrdinalClassifier
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.report import build_report, write_report

_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(__file__).resolve().parent.parent / "images" / "report.png"
    parser.add_argument("--page", type=Path, default=Path("report.html"), help="where it goes")
    parser.add_argument("--picture", type=Path, default=default)
    arguments = parser.parse_args()
    rows, stages = load_diabetes_stages()
    X = pd.DataFrame(rows, columns=load_diabetes().feature_names)
    y = mask_labels(stages, 100, random_state=0)
    model = AutoOrdinalClassifier(class_prior="uniform", random_state=0).fit(X, y)
    html = build_report(model, X, y, title="Progression of diabetes, in five stages")
    write_report(html, arguments.page, force=True)
    print(f"Page: {arguments.page}")
    if shutil.which("chromium"):
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            path = shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
            page = browser.new_page(viewport={"width": 1280, "height": 1250})
            page.goto(arguments.page.resolve().as_uri())
            page.screenshot(path=arguments.picture)
            browser.close()
        print(f"Picture: {arguments.picture}")


if __name__ == "__main__":
    main()
