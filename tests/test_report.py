"""The report: what it says, that it does no harm, and how it does in a browser."""

from __future__ import annotations

import re
import shutil
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("jinja2")

from cli_problems import FOLDER, ORDER, done, needs_data, patients, refused, with_few_labels
from semiordinal import KernelOrdinalClassifier, LinearOrdinalClassifier
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.metrics import TASKS, task_error
from semiordinal.report import _findings as findings
from semiordinal.report import _sections as sections
from semiordinal.report import build_report

CHROMIUM = shutil.which("chromium")
needs_browser = pytest.mark.skipif(
    CHROMIUM is None or find_spec("playwright") is None,
    reason="needs chromium (apt-get install chromium) and the package playwright",
)
EVIL = "<script>alert(1)</script>"
FIGURES = [
    "confusion",
    "label-curve",
    "unlabeled-curve",
    "variance",
    "shift",
    "predicted-shares",
    "thresholds",
    "calibration",
    "coefficients",
    "classes",
]
# No sandbox, since tests may run as root; nothing that asks the network of itself.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def evil_patients():
    """Patients with a column, categories and classes that would be code if they could."""
    frame = with_few_labels(patients(300), share=0.4)
    frame = frame.rename(columns={"age": EVIL, "ward": '"><img src=x onerror=alert(2)>'})
    frame["city"] = frame["city"].map(lambda city: f"</svg>{EVIL}{city}" if city else city)
    frame["severity"] = frame["severity"].map(
        {"mild": EVIL, "moderate": "mo$_d$", "severe": "é 'q"}
    )
    return frame


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report of evil patients, made by the command line."""
    folder = tmp_path_factory.mktemp("report")
    evil_patients().to_csv(folder / "evil.csv", index=False)
    make_report(folder / "evil.csv", folder / "evil.html")
    return folder / "evil.html"


def make_report(data, out):
    order = f"{EVIL},mo$_d$,é 'q"
    told = done("report", data, "--target", "severity", "--order", order, "--out", out)
    assert str(out) in told.out


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, report):
    """Open the report at a width; whatever it complains of or asks for is collected."""
    contexts = []

    def open_at(width, **settings):
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.heard = []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("dialog", lambda dialog: (page.heard.append("dialog"), dialog.dismiss()))
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(report.as_uri())
        return page

    yield open_at
    for context in contexts:
        context.close()


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_without_complaint_or_network(opened, report, width, scheme):
    page = opened(width, color_scheme=scheme)
    assert page.heard == []
    assert page.asked == [report.as_uri()]
    for name in FIGURES:
        box = page.locator(f"#figure-{name} svg").bounding_box()
        assert box["width"] > 200
        assert box["height"] > 100
    # Nothing sticks out to the right: wide tables and pictures scroll by themselves.
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 28)"}[scheme]


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_nothing_serious(opened, width, scheme):
    axe = pytest.importorskip("axe_core_python.sync_playwright")
    page = opened(width, color_scheme=scheme, bypass_csp=True)  # axe is a script of its own
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    found = axe.Axe().run(page)["violations"]
    serious = [v["id"] for v in found if v["impact"] in ("serious", "critical")]
    assert serious == []


@needs_browser
@pytest.mark.slow
def test_tables_sort_by_their_numbers(opened):
    page = opened(1280)
    table = page.locator("#figure-coefficients table")
    page.locator("#figure-coefficients summary").click()

    def column():
        return [
            float(c.get_attribute("data-value"))
            for c in table.locator("tbody td:nth-child(2)").all()
        ]

    given = column()
    assert given != sorted(given)
    button = table.get_by_role("button", name="coefficient")
    button.click()
    assert column() == sorted(given)
    assert table.locator("th[aria-sort=ascending]").inner_text().startswith("coefficient")
    button.click()
    assert column() == sorted(given, reverse=True)
    table.get_by_role("button", name="feature").click()
    names = table.locator("tbody th").all_inner_texts()
    assert names == page.evaluate("x => x.sort((a, b) => a.localeCompare(b))", names)


@needs_browser
@pytest.mark.slow
def test_pictures_tell_their_numbers_where_pointed_at(opened):
    page = opened(1280)
    tip = page.locator("#tip")
    assert tip.is_hidden()
    page.locator("#figure-confusion .hit").first.hover()
    assert re.search(r"label .*, predicted .*: \d+(\.\d)? of \d+ rows", tip.inner_text())
    page.locator("h1").hover()
    assert tip.is_hidden()


@needs_browser
@pytest.mark.slow
def test_it_can_be_read_without_scripts_and_printed(opened, tmp_path):
    page = opened(1280, java_script_enabled=False)
    page.locator("#figure-confusion summary").click()
    assert page.locator("#figure-confusion table").is_visible()
    assert page.locator(".hit title").count() > 10
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator("nav").is_hidden()
    assert page.locator("#figure-variance svg").is_visible()


def test_what_users_wrote_is_text(report):
    html = report.read_text(encoding="utf-8")
    assert html.count("<script>") == 1  # our own
    assert EVIL not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<img" not in html
    assert "default-src &#39;none&#39;" in html


def test_it_needs_nothing_from_elsewhere(report):
    html = report.read_text(encoding="utf-8")
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)""", html.split("<script>")[0])
    assert not re.search(r"url\((?!#)", html)
    addresses = set(re.findall(r"https?://[^\s\"'<]+", html))
    assert addresses <= {"http://www.w3.org/1999/xlink"}  # a name, not a place


def test_every_figure_has_a_description_and_its_numbers(report):
    html = report.read_text(encoding="utf-8")
    figures = re.findall(r'<figure id="figure-([\w-]+)">(.*?)</figure>', html, re.DOTALL)
    assert [name for name, _ in figures] == FIGURES
    for _, content in figures:
        assert re.search(r'<svg[^>]* role="img" aria-label="[^"]{40,}"', content)
        assert len(re.findall(r"<td[^>]*data-value", content)) >= 3
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))


def test_classes_keep_their_order(report):
    html = report.read_text(encoding="utf-8")
    expected = ["&lt;script&gt;alert(1)&lt;/script&gt;", "mo$_d$", "é &#39;q"]
    for name in ("confusion", "classes"):
        content = html[html.index(f'<figure id="figure-{name}"') :]
        rows = re.findall(r'<th scope="row">(.*?)</th>', content[: content.index("</figure>")])
        assert rows == expected


@pytest.fixture(scope="module")
def diabetes():
    X, stages = load_diabetes_stages()
    return X, stages, mask_labels(stages, 60, random_state=0)


def test_the_same_input_gives_the_same_bytes(report, tmp_path):
    make_report(report.with_suffix(".csv"), tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == report.read_bytes()


def test_fully_labelled_rows(diabetes):
    X, stages, _ = diabetes
    html = build_report(X, stages, LinearOrdinalClassifier(), title="Stages")
    assert "nothing to judge" in html
    assert "There are no unlabelled rows" in html
    assert "fixed settings (penalty l2 = 0.01, weight of the unlabelled rows 0.25)" in html
    assert "figure-confusion" in html
    assert "figure-variance" not in html


@pytest.mark.slow
def test_models_without_coefficients_or_probabilities_say_so(diabetes):
    X, stages, _ = diabetes
    html = build_report(X[:150], stages[:150], KernelOrdinalClassifier(loss="ls"))
    assert "has no coefficient for each column" in html
    assert "gives no honest probabilities" in html


def test_too_few_labels_to_hold_one_out(diabetes):
    X, _, _ = diabetes
    y = np.full(len(X), np.nan)
    y[:5] = [1, 2, 3, 4, 5]
    html = build_report(X, y, LinearOrdinalClassifier())
    assert "nothing can be held out" in html
    assert "figure-thresholds" in html
    # One label a class is the same in every draw, which says nothing about the direction.
    assert "too few labels for intervals" in html
    assert "fairly certain" not in html


@pytest.fixture
def quick(monkeypatch):
    """Reports without learning curves, which take most of the time."""
    quick_diagnosis = partial(findings.diagnose_problem, curves=False)
    monkeypatch.setattr(findings, "diagnose_problem", quick_diagnosis)
    monkeypatch.setattr(findings, "_MOST_DRAWS", 30)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("prior", ["labels", [0.4, 0.3, 0.1, 0.1, 0.1]])
def test_matrix_and_table_agree_with_the_headline(diabetes, prior):
    """All rounds of held-out rows count, and by the prior, in every figure."""
    X, _, y = diabetes
    found = findings.find(X, y, LinearOrdinalClassifier(class_prior=prior), 0)
    assert found.n_rounds == 5
    held_out = found.model_held_out
    section = sections.errors_section(found)
    counts = np.array([row[1:] for row in section.figures[0].tables[0].rows], dtype=float)
    np.testing.assert_allclose(counts.sum(), 60, atol=1)  # cells are rounded to a tenth
    if prior != "labels":
        np.testing.assert_allclose(counts.sum(axis=1), 60 * np.array(prior), atol=0.3)
    distances = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    mae = held_out.scores()["MAE"]
    assert (counts * distances).sum() / counts.sum() == pytest.approx(mae, abs=0.02)
    assert sections.facts(found)[2].value == f"{mae:.2f}"
    compared = sections.comparison_section(found).tables[0]
    assert sum(row[1] for row in compared.rows) == pytest.approx(60, abs=0.2)
    off = {name: each.errors("MAE") for name, each in found.held_out.items()}
    weights = np.ones(300) if held_out.weights is None else held_out.weights
    nearer = weights[off["SEMI"] < off["SV"]].sum() / 5
    assert compared.rows[0][1] == pytest.approx(nearer, abs=0.051)
    for text in (compared.title, section.figures[0].caption):
        assert "means over 5 rounds" in text
        assert ("class prior" in text) == (prior != "labels")
    assert ("by the class prior" in sections.facts(found)[3].meaning) == (prior != "labels")


@pytest.mark.usefixtures("quick")
def test_errors_agree_where_a_class_is_never_held_out(diabetes):
    """A class with one label is always trained on; the weights of the others must make up."""
    X, _, y = diabetes
    fives = np.flatnonzero(y == 5)
    keep = np.setdiff1d(np.arange(200), fives[1:])
    keep = np.union1d(keep, fives[:1])
    model = LinearOrdinalClassifier(class_prior=[0.1, 0.1, 0.1, 0.2, 0.5])
    found = findings.find(X[keep], y[keep], model, 0)
    gain = found.diagnosis.gain
    assert gain.semi == pytest.approx(found.held_out["SEMI"].scores()["MAE"])
    assert gain.supervised == pytest.approx(found.held_out["SV"].scores()["MAE"])


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("loss", "metric"), [("at", "MAE"), ("it", "MZE"), ("ls", "MSE")])
def test_errors_are_told_by_the_metric_of_the_loss(diabetes, loss, metric):
    X, stages, _ = diabetes
    # Most rows are of class 2, so that the median is the same in every part.
    y = np.where(stages > 3, 2, stages)[:60]
    found = findings.find(X[:60], y, LinearOrdinalClassifier(loss=loss, l2=0.1), 0)
    section = sections.errors_section(found)
    scores = found.model_held_out.scores()
    assert f"({metric}); predicting always 2 (the median class)" in section.lead
    assert f"{scores[metric]:.2f}" in section.lead
    assert f"would give {task_error(TASKS[metric], y, np.full(60, 2)):.2f}" in section.lead
    assert section.tables[0].rows[0][0] == "always 2 (the median class)"


def test_files_are_not_overwritten_nor_left_half(tmp_path, monkeypatch):
    with_few_labels(patients(60), share=0.8).to_csv(tmp_path / "p.csv", index=False)
    out = tmp_path / "p.html"
    out.write_text("mine")
    asked = ("report", tmp_path / "p.csv", "--target", "severity", "--order", ORDER, "--out", out)
    assert "exists already" in refused(2, *asked)
    assert "does not exist" in refused(2, *asked[:-1], tmp_path / "no" / "p.html")
    assert out.read_text() == "mine"

    def fail(*_, **__):
        raise OSError("the disk is full")

    monkeypatch.setattr(Path, "write_text", fail)
    monkeypatch.setattr("semiordinal.report.build_report", lambda *_, **__: "<html>")
    assert "the disk is full" in refused(1, *asked, "--force")
    monkeypatch.undo()
    assert out.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.csv", "p.html"]


@pytest.mark.parametrize("command", ["diagnose", "report"])
def test_bad_input_is_one_line(tmp_path, command):
    table = with_few_labels(patients(60), share=0.8)
    table.to_csv(tmp_path / "p.csv", index=False)
    out = ("--out", tmp_path / "p.html") if command == "report" else ()

    def asked(*more, target="severity"):
        return (command, tmp_path / "p.csv", "--target", target, *out, *more)

    assert "Did you mean 'severity'?" in refused(2, *asked(target="sevrity"))
    assert f"--order {ORDER}" in refused(2, *asked())
    order = ("--order", ORDER)
    told = refused(2, *asked(*order, "--model", "network"))
    assert "only linear and kernel models are diagnosed" in told
    assert "semiordinal fit --model network says" in told
    assert "--model tree is not known" in refused(2, *asked(*order, "--model", "tree"))
    assert "--loss mae is not known" in refused(2, *asked(*order, "--loss", "mae"))
    assert "--removed-class worst" in refused(2, *asked(*order, "--removed-class", "worst"))
    assert "--class-prior a,b" in refused(2, *asked(*order, "--class-prior", "a,b"))
    assert "class_prior has shape" in refused(2, *asked(*order, "--class-prior", "0.5,0.5"))
    table["severity"] = ""
    table.to_csv(tmp_path / "p.csv", index=False)
    assert "no label at all" in refused(1, *asked(*order))
    assert not (tmp_path / "p.html").exists()


def test_one_unlabelled_row_is_told_to_be_too_few(tmp_path):
    table = patients(40)
    table.loc[3, "severity"] = ""
    table.to_csv(tmp_path / "p.csv", index=False)
    asked = (tmp_path / "p.csv", "--target", "severity", "--order", ORDER)
    told = " ".join(done("diagnose", *asked).out.split())
    assert "39 labelled and 1 unlabelled row." in told
    done("report", *asked, "--out", tmp_path / "p.html")
    html = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "40 rows: 39 with a label and 1 without." in html
    assert "figure-shift" not in html
    for text in (told, html):
        assert "there are too few rows" in text
        assert "p = –" not in text
        assert "AUC of" not in text


@pytest.mark.slow
def test_diagnose_prints_words_and_json(tmp_path):
    with_few_labels(patients(200), share=0.4).to_csv(tmp_path / "p.csv", index=False)
    asked = ("diagnose", tmp_path / "p.csv", "--target", "severity", "--order", ORDER)
    told = done(*asked)
    found = done(*asked, "--json").json
    assert found["verdict"]["sentence"] in told.out.replace("\n", " ")
    assert found["verdict"]["answer"] in ("use", "don't", "can't tell")
    for part in ("labelled rows alone (SV)", "removed class", "estimated", "AUC"):
        assert part in told.out
    assert found["gain"]["mean"] == pytest.approx(
        found["gain"]["supervised"] - found["gain"]["semi"]
    )
    assert found["classes"] == ["mild", "moderate", "severe"]
    assert len(found["variance"]["variance"]["lu"]) == 3


@needs_data
@pytest.mark.slow
def test_a_large_table(tmp_path):
    """40,768 rows: how long it takes is for the benchmark, the size of the file is not."""
    frame = pd.read_csv(Path(FOLDER) / "fireman-example.csv.gz").astype({"y": "Int64"})
    frame.loc[np.random.default_rng(0).permutation(len(frame))[300:], "y"] = pd.NA
    frame.to_csv(tmp_path / "fire.csv", index=False)
    out = tmp_path / "fire.html"
    done("report", tmp_path / "fire.csv", "--target", "y", "--out", out)
    assert out.stat().st_size < 3_000_000
    html = out.read_text(encoding="utf-8")
    assert "40,468" in html
    assert "5,000 were drawn at random" in html
