"""Try what was built: the wheel in a fresh environment, and the tests of the source archive.

python tools/check_dist.py dist
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

# Tests with helpers and stored files, which an archive may lack; all others are collected.
TESTS = ("test_package.py", "test_golden.py", "test_stored_models.py", "test_inference_r.py")


def run(*command: object, folder: Path) -> str:
    """Run a command outside the source tree, and give what it printed."""
    words = [str(word) for word in command]
    print("$", " ".join(words[:6]), "..." if len(words) > 6 else "", flush=True)
    environment = {name: each for name, each in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        words, cwd=folder, env=environment, text=True, capture_output=True, check=False
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\n{done.stderr}\n{words[0]} failed with {done.returncode}.")
    return done.stdout


def check_wheel(wheel: Path) -> None:
    """Install it with the extra ``report``; quickstart, the README's script, a model, a report."""
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / "bin" / "python"
        command = folder / "env" / "bin" / "semiordinal"
        run(python, "-m", "pip", "install", "--quiet", f"{wheel.resolve()}[report]", folder=folder)
        where = run(python, "-c", "import semiordinal; print(semiordinal.__file__)", folder=folder)
        assert where.startswith(str(folder)), where
        told = run(command, "quickstart", "--draws", "2", "--picture", "q.png", folder=folder)
        assert "auto" in told, told
        (folder / "readme.py").write_text(script, encoding="utf-8")
        print(run(python, "-W", "error", "readme.py", folder=folder))
        data, model = ("diabetes.csv", "diabetes.semiordinal")
        run(command, "datasets", "diabetes-stages", "--labels", 40, "--out", data, folder=folder)
        run(command, "fit", data, "--target", "target", "--model", "linear", folder=folder)
        run(command, "predict", model, data, "--out", "p.csv", "--proba", folder=folder)
        run(command, "report", model, data, "--out", "r.html", folder=folder)
        assert "<html" in (folder / "r.html").read_text(encoding="utf-8")
        print(run(python, "-m", "pip", "check", folder=folder).strip())


def check_archive(archive: Path) -> None:
    """Collect all tests of the source archive, and run those that need its stored files."""
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(archive) as opened:
            opened.extractall(place, filter="data")
        (root,) = Path(place).iterdir()
        pytest = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider")
        # The archive's own source, not that of an editable install.
        own = ("-o", "pythonpath=src tests")
        found = run(*pytest, *own, "--collect-only", folder=root)
        print(found.strip().splitlines()[-1])
        told = run(*pytest, *own, *(f"tests/{name}" for name in TESTS), folder=root)
        print(told.strip().splitlines()[-1])


def main() -> None:
    folder = Path(sys.argv[1])
    (wheel,) = folder.glob("*.whl")
    (archive,) = folder.glob("*.tar.gz")
    check_wheel(wheel)
    check_archive(archive)
    print(f"{wheel.name} and {archive.name} work.")


if __name__ == "__main__":
    main()
