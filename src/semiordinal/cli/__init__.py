"""The command line, ``semiordinal``; one file for each command."""

# Commands register themselves when imported, in the order in which the help lists them.
from . import _fit  # noqa: F401, isort: skip
from . import _predict  # noqa: F401, isort: skip
from . import _evaluate  # noqa: F401, isort: skip
from . import _shares  # noqa: F401, isort: skip
from . import _next  # noqa: F401, isort: skip
from . import _label  # noqa: F401, isort: skip
from . import _merge  # noqa: F401, isort: skip
from . import _combine  # noqa: F401, isort: skip
from . import _plan  # noqa: F401, isort: skip
from . import _doubt  # noqa: F401, isort: skip
from . import _compare  # noqa: F401, isort: skip
from . import _diagnose  # noqa: F401, isort: skip
from . import _report  # noqa: F401, isort: skip
from . import _inspect  # noqa: F401, isort: skip
from . import _datasets  # noqa: F401, isort: skip
from . import _reproduce  # noqa: F401, isort: skip
from . import _quickstart  # noqa: F401, isort: skip
from ._console import app, main

__all__ = ["app", "main"]
