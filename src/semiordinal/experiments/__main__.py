"""``python -m semiordinal.experiments FOLDER ...``: results again from their ``runs.csv``."""

from __future__ import annotations

import sys
from pathlib import Path

from ._results import rewrite_results


def main(folders: list[str]) -> None:
    """Write tables, summaries and figures of folders of results again."""
    if not folders:
        sys.exit("Name folders that `semiordinal reproduce` has written.")
    for folder in folders:
        try:
            written = rewrite_results(Path(folder))
        except ValueError as error:
            sys.exit(f"Error: {error}")
        print(f"{folder}: {', '.join(path.name for path in written)}")


if __name__ == "__main__":
    main(sys.argv[1:])
