"""The reference of the site: a page of every public name, from what the modules list."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from pathlib import Path

import semiordinal

# In the order of a user's way. The command line has a page that is written by hand.
MODULES = {
    "semiordinal": "Classifiers",
    "semiordinal.metrics": "Metrics",
    "semiordinal.model_selection": "Splitters and scorers",
    "semiordinal.shares": "Class shares",
    "semiordinal.labeling": "Which rows to label",
    "semiordinal.diagnosis": "Do unlabelled rows help?",
    "semiordinal.inference": "Standard errors, tests and effects",
    "semiordinal.plotting": "Pictures",
    "semiordinal.report": "Reports",
    "semiordinal.model_files": "Model files",
    "semiordinal.onnx_files": "ONNX graphs",
    "semiordinal.datasets": "Data sets",
    "semiordinal.scale": "Rows beyond memory",
    "semiordinal.nn": "Neural networks",
    "semiordinal.baselines": "Baselines",
    "semiordinal.theory": "Theory",
    "semiordinal.experiments": "The paper's experiments",
}
KINDS = ("Classes", "Functions", "Warnings and errors", "Constants")


def public_modules() -> set[str]:
    """The package and its public modules, but for the command line."""
    below = [module.name for module in pkgutil.iter_modules(semiordinal.__path__)]
    public = {f"semiordinal.{name}" for name in below if not name.startswith("_")}
    return {"semiordinal", *public} - {"semiordinal.cli"}


def public_names(module: str) -> list[str]:
    """What a module lists, and of the package also what needs an extra."""
    found = import_module(module)
    listed = set(dir(semiordinal)) if found is semiordinal else set(found.__all__)
    return sorted(name for name in listed if not name.startswith("__"))


def page_of(module: str, name: str) -> str:
    """The name of the page of a public name; what the package has is shown there."""
    if name in public_names("semiordinal"):
        if getattr(semiordinal, name) is getattr(import_module(module), name):
            return f"semiordinal.{name}"
    return f"{module}.{name}"


def kind_of(thing: object) -> str:
    """Under which heading a name stands."""
    if inspect.isclass(thing):
        return KINDS[2] if issubclass(thing, Exception) else KINDS[0]
    return KINDS[1] if callable(thing) else KINDS[3]


def own_methods(module: str, name: str) -> list[str]:
    """Public methods of a class that this package defines, not those that it inherits."""
    found = getattr(import_module(module), name)
    own = []
    for method, value in inspect.getmembers(found, inspect.isroutine):
        defined = getattr(inspect.unwrap(value), "__module__", None) or ""
        if not method.startswith("_") and defined.startswith("semiordinal"):
            own.append(method)
    return own


def module_page(name: str) -> str:
    """A page that lists the public names of a module, by kind."""
    module = import_module(name)
    heading = f"{MODULES[name]}: ``{name}``"
    lines = [heading, "=" * len(heading), "", inspect.getdoc(module) or "", ""]
    by_kind: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for each in public_names(name):
        by_kind[kind_of(getattr(module, each))].append(page_of(name, each))
    for kind, pages in by_kind.items():
        if pages:
            lines += [kind, "-" * len(kind), ""]
            own = [page for page in pages if page.rpartition(".")[0] == name]
            for these, option in ((own, ["   :toctree: generated"]), (set(pages) - set(own), [])):
                if these:
                    lines += [".. autosummary::", *option, ""]
                    lines += [f"   ~{page}" for page in sorted(these)] + [""]
    return "\n".join(lines)


def write_reference(folder: Path) -> None:
    """Write the pages; those that have not changed are left alone, for quick builds."""
    unknown = public_modules() ^ set(MODULES)
    if unknown:
        raise ValueError(f"MODULES of {__file__} lacks or invents {', '.join(sorted(unknown))}.")
    index = ["Reference", "=========", ""]
    index += ["Every public name, by module. What is not listed here may change at any time.", ""]
    index += [".. toctree::", "   :maxdepth: 1", "", *(f"   {name}" for name in MODULES), ""]
    pages = {"index": "\n".join(index), **{name: module_page(name) for name in MODULES}}
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
