"""Check the built site: every link within it leads somewhere, and nothing is fetched from outside.

python docs/check_links.py docs/_build/html
"""

from __future__ import annotations

import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Of elements that load something by themselves, the attribute that names it.
LOADS = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """The links, the loads and the anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors = {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag in LOADS and LOADS[tag] in values:
            self.loads.append(values[LOADS[tag]])


def broken_links(site: Path) -> list[str]:
    """What is wrong, one line each."""
    paths = sorted(site.resolve().rglob("*.html"))
    pages = {path: Page(path) for path in paths if "_static" not in path.parts}
    wrong = []
    for path, page in pages.items():
        for target in page.links + page.loads:
            parts = urlsplit(target)
            where = f"{path.relative_to(site.resolve())}: {target}"
            if parts.scheme or parts.netloc:
                if target in page.loads and parts.scheme != "data":
                    wrong.append(f"{where} is loaded from outside")
                continue
            file = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            file = file / "index.html" if file.is_dir() else file
            if not file.exists():
                wrong.append(f"{where} is not there")
            elif file in pages and unquote(parts.fragment) not in pages[file].anchors:
                wrong.append(f"{where} has no such place in the page")
    return wrong


def main() -> int:
    site = Path(sys.argv[1])
    wrong = broken_links(site)
    print("\n".join(wrong))
    n_pages = len(list(site.rglob("*.html")))
    print(f"{n_pages} pages, {len(wrong)} broken links")
    return 1 if wrong or not n_pages else 0


if __name__ == "__main__":
    sys.exit(main())
