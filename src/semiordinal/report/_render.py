"""The page as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path

from .. import __version__
from .._utils.files import atomic_write
from .._utils.text import visible
from ..plotting._svg import page_colors
from ._page import Page, cell


def render(page: Page, details: dict[str, str]) -> str:
    """The page as HTML; the same page gives the same text.

    Parameters
    ----------
    page : Page
    details : dict
        How the report was made, shown at its end.

    Returns
    -------
    str
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        # Names of columns and classes may hold marks that turn the text around them.
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cell"] = cell
    environment.tests["numeric"] = lambda value: isinstance(value, int | float)  # NumPy too
    script = _asset("report.js")
    # Only this script may run, and nothing may be fetched, whatever the data holds.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    html: str = environment.get_template("report.html").render(
        page=page,
        details=details,
        version=__version__,
        style=Markup(_style(page.n_classes)),  # noqa: S704 (our own, not of the data)
        script=Markup(script),  # noqa: S704
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        svg=Markup,
    )
    return html


def write_report(html: str, path: str | Path, force: bool = False) -> None:
    """Write a page to a file, completely or not at all.

    Parameters
    ----------
    html : str
        What `build_report` gives.
    path : str or Path
    force : bool, default=False
        Overwrite a file that is there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report("<title>Stages</title>", f"{folder}/stages.html")
    ...     Path(folder, "stages.html").read_text()
    '<title>Stages</title>'
    """
    with atomic_write(Path(path), force) as temporary:
        temporary.write_text(html, encoding="utf-8")


def _asset(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def _style(n_classes: int) -> str:
    def declared(on_dark: bool) -> str:
        return "".join(
            f"{name}:{color};" for name, color in page_colors(n_classes, on_dark).items()
        )

    dark = f":root{{{declared(True)}}}"
    return (
        f":root{{{declared(False)}}}\n@media screen and (prefers-color-scheme: dark){{{dark}}}\n"
        + _asset("report.css")
    )
