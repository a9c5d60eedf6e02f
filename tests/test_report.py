"""The report: what it says, that it does no harm, and how it does in a browser."""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("jinja2")

from cli_problems import (
    FOLDER,
    ORDER,
    done,
    needs_data,
    patients,
    refused,
    with_few_labels,
)
from semiordinal import AutoOrdinalClassifier, LinearOrdinalClassifier, LinearOrdinalClassifierCV
from semiordinal.datasets import load_diabetes_stages, mask_labels
from semiordinal.labeling import doubt
from semiordinal.report import build_report

CHROMIUM = shutil.which("chromium")
needs_browser = pytest.mark.skipif(
    CHROMIUM is None or find_spec("playwright") is None,
    reason="needs chromium (apt-get install chromium) and the package playwright",
)
EVIL = "<script>alert(1)</script>"
FIGURES = [
    "confusion",
    "importance",
    *(f"effect-{i}" for i in range(6)),
    "coefficients",
    "calibration",
    "shares",
    "thresholds",
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


pytestmark = pytest.mark.usefixtures("few_folds_throughout")


def evil_patients():
    """Patients with a column, categories and classes that would be code if they could."""
    frame = with_few_labels(patients(300), share=0.4)
    frame = frame.rename(columns={"age": EVIL, "ward": '\u202e"><img src=x onerror=alert(2)>'})
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
    asked = ("report", data, "--target", "severity", "--order", order, "--model", "linear")
    told = done(*asked, "--out", out)
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
    page.locator("#statistics details.folded > summary").click()
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
    assert page.locator("#figure-importance svg").is_visible()


def test_what_users_wrote_is_text(report):
    html = report.read_text(encoding="utf-8")
    assert html.count("<script>") == 1  # our own
    assert EVIL not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<img" not in html
    assert "\u202e" not in html  # which would turn the text around
    assert r"\u202e&#34;&gt;&lt;img" in html
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
    for name in ("confusion", "shares"):
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


def text_of(html):
    """What a reader sees, without tags."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).replace("&#39;", "'").split())


def test_a_model_alone_shows_what_it_held_out(diabetes):
    X, _, y = diabetes
    model = LinearOrdinalClassifierCV(random_state=0).fit(X, y)
    html = text_of(build_report(model))
    predicted = (model.held_out_cumulative_ < 0.5).sum(axis=1)
    error = np.abs(predicted - model.held_out_codes_).mean()
    assert f"the model is {error:.3f} ±" in html
    assert "Give the table too" in html
    assert "figure-importance" not in html


def test_percentages_of_a_page_add_up(diabetes):
    """Of 42 rows 15 are right and 15 one class off: 36 % each, and 71 % both if rounded apart."""
    X, stages, _ = diabetes
    y = mask_labels(stages, 42, random_state=0)
    model = LinearOrdinalClassifierCV(unlabeled_weights=(), l2s=[0.1], n_repeats=1, random_state=0)
    text = text_of(build_report(model.fit(X, y)))
    right, near = (
        int(re.search(rf"{what} (\d+) %", text)[1])
        for what in ("predicted exactly right", "right or one class off")
    )
    assert f"exactly right {right} 1 class off {near - right} " in text


def test_it_says_what_drives_a_model_that_goes_by_one_column(diabetes):
    """Of rows whose class is a column, that column alone can matter, in the right direction."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(400, 3)), columns=["noise", "dose", "other"])
    truth = np.digitize(X["dose"], [0.3, 0.6])
    y = np.where(np.arange(400) < 120, truth, np.nan)
    model = AutoOrdinalClassifier(members=["trees"], random_state=0).fit(X, y)
    html = build_report(model, X, y)
    text = text_of(html)
    assert "The predictions go by dose," in text
    content = html[html.index('<figure id="figure-effect-0"') :]
    rows = re.findall(r"<tr>(.*?)</tr>", content[: content.index("</figure>")], re.DOTALL)
    shares = [list(map(float, re.findall(r'data-value="([^"]+)"', row)))[-3:] for row in rows[1:]]
    assert shares[0][0] > 0.7
    assert shares[-1][2] > 0.7
    # Rows with a high dose are raised by it, and those with a low one lowered.
    reasons = re.findall(r"because dose (0\.\d+) \((raises|lowers)", text)
    assert len(reasons) >= 3
    for value, verb in reasons:
        if not 0.35 < float(value) < 0.55:
            assert verb == ("raises" if float(value) > 0.45 else "lowers")


def test_groups_that_are_harder_stand_out():
    """Half of the rows have labels at random: they are told, and nothing else is."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"x": rng.normal(size=600), "site": rng.choice([0.0, 1.0], 600)})
    truth = np.digitize(X["x"], [-0.5, 0.5])
    truth = np.where(X["site"] == 1, rng.integers(0, 3, 600), truth)
    y = np.where(np.arange(600) < 300, truth, np.nan)
    model = AutoOrdinalClassifier(members=["linear"], random_state=0).fit(X, y)
    text = text_of(build_report(model, X, y))
    assert re.search(r"It is clearly (worse|better) for rows with site", text)


def test_fully_labelled_rows(diabetes):
    X, stages, _ = diabetes
    model = AutoOrdinalClassifier(members=["linear"], random_state=0).fit(X[:150], stages[:150])
    html = build_report(model, X[:150], stages[:150], title="Stages")
    assert "nothing to judge" in html
    assert "figure-confusion" in html
    assert "The range holds the true class in about 9 of 10 rows" in html
    assert re.search(r"Likely \d, (and no other|between \d and \d); because", html)


def test_models_without_probabilities_or_held_out_rows_say_so(diabetes):
    X, stages, _ = diabetes
    model = LinearOrdinalClassifier(loss="ls").fit(X[:150], stages[:150])
    html = text_of(build_report(model, X[:150], stages[:150]))
    assert "No labelled row was held out when this model was fitted" in html
    assert "Nothing was held out to compare probabilities with" in html
    assert "The model has no probabilities to tell by" in html
    tuned = LinearOrdinalClassifierCV(loss="ls").fit(X[:150], stages[:150])
    assert "Of 100 rows like these" in text_of(build_report(tuned, X[:150], stages[:150]))
    # Nothing is promised of what was not held out: neither a range nor its absence.
    assert "The range holds" not in html
    assert "and no other" not in html
    assert re.search(r"Likely \d; because", html)


def test_labels_that_may_be_wrong_are_listed():
    """Those of `doubt`, by their rows in the table, with the number."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(260, 2)), columns=["dose", "age"])
    truth = np.digitize(X["dose"], [-0.8, 0.0, 0.8])
    y = np.where(np.arange(260) % 2, truth, np.nan)
    ends = [row for row in range(1, 260, 2) if truth[row] in (0, 3)][:6]
    y[ends] = 3 - y[ends]
    model = LinearOrdinalClassifierCV(random_state=0).fit(X, y)
    found = doubt(model, X, y, 10)
    html = build_report(model, X, y)
    section = html[html.index('id="doubt"') :]
    section = text_of(section[: section.index("</section>")])
    assert set(ends) <= set(found.positions)
    numbers = [int(number) for number in re.findall(r"row (\d+)", section)]
    assert numbers == (found.positions + 1).tolist()
    assert f"Of 130 labels about {found.n_wrong} seem wrong" in section
    # Other labels than those of the fit say nothing of it.
    other = build_report(model, X, np.where(np.isnan(y), np.nan, (y + 1) % 4))
    assert "This takes the rows that the model was fitted to" in other


def test_too_few_labels_for_intervals(diabetes):
    X, _, _ = diabetes
    y = np.full(len(X), np.nan)
    y[:5] = [1, 2, 3, 4, 5]
    html = text_of(build_report(LinearOrdinalClassifier().fit(X, y), X, y))
    # One label a class is the same in every draw, which says nothing about the direction.
    assert "There are no intervals of the coefficients" in html
    assert "fairly certain" not in html


def test_numbers_are_written_as_people_do(tmp_path):
    frame = with_few_labels(patients(200), share=0.5)
    frame["platelets"] = np.random.default_rng(0).normal(260_000, 50_000, 200).round()
    frame.to_csv(tmp_path / "p.csv", index=False)
    asked = ("report", tmp_path / "p.csv", "--target", "severity", "--order", ORDER)
    done(*asked, "--model", "linear", "--out", tmp_path / "p.html")
    html = (tmp_path / "p.html").read_text(encoding="utf-8")
    text = text_of(html.split("</nav>")[1].split("<script>")[0])
    assert not re.search(r"\d[eE][+-]?\d", re.sub(r"[0-9a-f]{64}", "", text))
    assert re.search(r"\d\d\d,\d\d\d", text)
    assert re.search(r"visit: 20\d\d-\d\d-\d\d", text)
    for word in ("θ", "γ", "SV", "SEMI", "l2", "MZE"):
        assert word not in text.split("For statisticians")[0], word


def test_files_are_not_overwritten_nor_left_half(tmp_path, monkeypatch):
    with_few_labels(patients(60), share=0.8).to_csv(tmp_path / "p.csv", index=False)
    out = tmp_path / "p.html"
    out.write_text("mine")
    asked = ("report", tmp_path / "p.csv", "--target", "severity", "--order", ORDER)
    asked += ("--model", "linear", "--out", out)
    assert "exists already" in refused(2, *asked)
    assert "does not exist" in refused(2, *asked[:-1], tmp_path / "no" / "p.html")
    assert out.read_text() == "mine"

    def fail(*_, **__):
        raise OSError("the disk is full")

    monkeypatch.setattr(Path, "write_text", fail)
    monkeypatch.setattr("semiordinal.report._build.render_findings", lambda *_, **__: "<html>")
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
    assert "--model tree is not known" in refused(2, *asked(*order, "--model", "tree"))
    assert "--loss mae is not known" in refused(2, *asked(*order, "--loss", "mae"))
    assert "--task mean is not known" in refused(2, *asked(*order, "--task", "mean"))
    told = refused(2, *asked(*order, "--task", "mse", "--loss", "it"))
    assert "--loss it is not for --task mse" in told
    assert "--class-prior 'a,b' is not known" in refused(2, *asked(*order, "--class-prior", "a,b"))
    assert "--class-prior has 2 shares" in refused(2, *asked(*order, "--class-prior", "0.5,0.5"))
    table["severity"] = ""
    table.to_csv(tmp_path / "p.csv", index=False)
    assert "no label at all" in refused(1, *asked(*order))
    assert not (tmp_path / "p.html").exists()


@needs_data
@pytest.mark.slow
def test_a_large_table(tmp_path):
    """40,768 rows: how long it takes is for the benchmark, the size of the file is not."""
    frame = pd.read_csv(Path(FOLDER) / "fireman-example.csv.gz").astype({"y": "Int64"})
    frame.loc[np.random.default_rng(0).permutation(len(frame))[300:], "y"] = pd.NA
    frame.to_csv(tmp_path / "fire.csv", index=False)
    out = tmp_path / "fire.html"
    done("report", tmp_path / "fire.csv", "--target", "y", "--model", "linear", "--out", out)
    assert out.stat().st_size < 3_000_000
    html = out.read_text(encoding="utf-8")
    assert "40,468" in html
