"""How Sphinx builds the site: ``make docs``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")

import semiordinal

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

from reference import MODULES, own_methods, write_reference  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "semiordinal"
author = "The semiordinal developers"
copyright = author
version = release = semiordinal.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "examples", "**/.ipynb_checkpoints"]
templates_path = ["_templates"]
toc_object_entries_show_parents = "hide"
default_role = "literal"  # single backquotes in docstrings name things
suppress_warnings = [
    "config.cache",  # of the function that templates call
    "myst.header",  # tables of experiments have sections without a chapter
]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

write_reference(DOCS / "api")
autosummary_generate = [f"api/{name}.rst" for name in MODULES]
autosummary_context = {"own_methods": own_methods}
autodoc_typehints = "none"  # numpydoc's tables have them
autodoc_inherit_docstrings = True
numpydoc_show_class_members = False  # the pages of classes list their own
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "doc_module": ("semiordinal",),
    "backreferences_dir": None,
    "reference_url": {"semiordinal": None},
}

html_theme = "pydata_sphinx_theme"
html_title = f"semiordinal {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "semiordinal"},
    "show_version_warning_banner": False,
    "check_switcher": False,
    "switcher": {"json_url": "_static/switcher.json", "version_match": version},
    "navbar_start": ["navbar-logo", "version-switcher"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


# Pages that live above this folder, and where they are on the site.
ABOVE = {
    "../SECURITY.md": "security.md",
    "../benchmarks/README.md": "benchmarks.md",
}


def link_within_the_site(app: Sphinx, page: str, source: list[str]) -> None:
    """Links to files above this folder, as where it is read on its own, lead to their pages."""
    for above, here in ABOVE.items():
        source[0] = source[0].replace(f"]({above}", f"]({here}")
    source[0] = re.sub(r"\]\(\.\./examples/(plot_\w+)\.py", r"](gallery/\1.rst", source[0])


def quote_names(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Names that end in an underscore are no links, in shapes such as (n_features_in_,)."""
    lines[:] = [re.sub(r"\((\w+_),", r"(``\1``,", line) for line in lines]


def setup(app: Sphinx) -> None:
    """Mend what Sphinx would misread."""
    app.connect("source-read", link_within_the_site)
    app.connect("autodoc-process-docstring", quote_names, priority=400)  # before numpydoc
