"""How long the small table takes: 12 sets, 3 losses, 3 methods, 20 repetitions, two processes.

``python benchmarks/reproduce.py``; some 20 minutes, of which ``--mode exact`` is a third.
Needs the folder SEMIORDINAL_DATA. Records go to a folder that is deleted at the end.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from semiordinal.experiments import RecordStore, cells_of, get_experiment, run_cells

LIMITS = {"exact": 10.0, "paper": 90.0}  # minutes
METHODS = ("SV", "SEMI1", "SEMI2")


def measure(mode: str, repeats: int) -> None:
    cells = cells_of(get_experiment("small"), mode, repeats, seed=0, columns=METHODS)
    with tempfile.TemporaryDirectory() as folder:
        store = RecordStore(Path(folder))
        started = time.perf_counter()
        run_cells(cells, store, n_jobs=2)
        minutes = (time.perf_counter() - started) / 60
        notes = [json.loads(store.path_of(cell).read_text())["notes"] for cell in cells]
    cpu = sum(note["seconds"] for note in notes) / 60
    whole = minutes * 20 / repeats
    print(
        f"{mode:6s} {len(cells)} cells, {minutes:.1f} min by the clock, {cpu:.1f} min of CPU; "
        f"20 repetitions: {whole:.1f} min, limit {LIMITS[mode]:.0f}: "
        f"{'held' if whole < LIMITS[mode] else 'exceeded'}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=[*LIMITS, "both"], default="both")
    parser.add_argument("--repeats", type=int, default=20, help="fewer are scaled up")
    arguments = parser.parse_args()
    for mode in LIMITS if arguments.mode == "both" else [arguments.mode]:
        measure(mode, arguments.repeats)
