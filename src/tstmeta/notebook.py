"""Run a notebook with other parameters: ``tstmeta run 02_content_preservation -p dataset lai``.

papermill ignores a parameter that the notebook does not know and checks no type: here both are
refused.  The executed notebook appears whole or not at all, and holds no time stamp and no path.
"""

import ast
import logging
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import TypeAdapter, ValidationError

from .console import note
from .data import paths
from .extras import needs
from .schema import TstmetaError
from .secrecy import conceal
from .storage import apart, replacing

#: The types that a parameter may have.
TYPES: dict[str, Any] = {
    **{kind.__name__: kind for kind in (str, int, float, bool)},
    **{str(kind): kind for kind in (list[str], list[int], list[float], list[bool])},
}


class Parameter(NamedTuple):
    """What a notebook declares: its name, its type as written, its default."""

    name: str
    type: str
    default: Any

    def __str__(self) -> str:
        return f"{self.name}: {self.type} = {self.default!r}"

    def convert(self, value: Any) -> Any:
        """The value if it is of the declared type, else a ValueError.

        Text may stand for any type: ``3``, ``true``, and ``a,b`` or ``[a, b]`` for a list.
        """
        for word in value if isinstance(value, list) else [value]:
            if isinstance(word, str) and conceal(word) != word:
                raise ValueError(
                    "a URL with a user, password or query would stand in the notebook for all to "
                    "read; leave it out, and give a key in the variable OPENAI_API_KEY"
                )
        text = isinstance(value, str) and self.type != "str"
        try:
            if text and self.type.startswith("list"):
                words = [word.strip() for word in value.split(",")]
                value = yaml.safe_load(value) if "[" in value else words
            return TypeAdapter(TYPES[self.type]).validate_python(value, strict=not text)
        except (ValidationError, yaml.YAMLError):
            raise ValueError(f"must be {self.type}, got {value!r}") from None


def find(name: str | Path) -> Path:
    """A notebook by path, or by the name it has in ``notebooks/``."""
    folder = paths.home() / "notebooks"
    for path in (Path(name), folder / name, folder / f"{name}.ipynb"):
        if path.is_file():
            return path
    known = ", ".join(sorted(path.stem for path in folder.glob("*.ipynb"))) or "none"
    raise TstmetaError(f"no notebook at {name} (in {folder}: {known})")


def parameters(source: Path) -> dict[str, Parameter]:
    """What a notebook takes, by name, in the order declared.

    Raises:
        TstmetaError: no notebook, or a parameter of another form than
            ``name: type = default  # help``, with a type of :data:`TYPES`.
    """
    needs("papermill", "ipykernel", "nbformat", "IPython", extra="book")
    import papermill

    try:
        declared = papermill.inspect_notebook(str(source)).values()
    except Exception as error:  # a file of any content, read by a library that promises nothing
        raise TstmetaError(f"{source} is not a Jupyter notebook: {error}") from error
    known = {}
    for entry in declared:
        name, kind = entry["name"], entry["inferred_type_name"]
        try:
            if kind not in TYPES:
                raise ValueError(f"its type is one of {', '.join(TYPES)}")
            known[name] = Parameter(name, kind, ast.literal_eval(entry["default"]))
            known[name].convert(known[name].default)
        except (SyntaxError, ValueError) as error:
            raise TstmetaError(f"{source}, cell tagged 'parameters', {name}: {error}") from error
    return known


def check(source: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of parameters in their declared types; see :meth:`Parameter.convert`.

    Raises:
        TstmetaError: unknown names and values of the wrong type, all of them, with what is known.
    """
    known = parameters(source)
    checked, faults = {}, []
    for name, value in values.items():
        try:
            if name not in known:
                raise ValueError("unknown")
            checked[name] = known[name].convert(value)
        except ValueError as error:
            faults.append(f"{name}: {error}")
    if faults:
        rows = [f"{source.name} cannot use:", *(f"  {fault}" for fault in faults)]
        rows += ["It takes:", *(f"  {parameter}" for parameter in known.values())]
        raise TstmetaError("\n".join(rows))
    return checked


def run_notebook(source: Path, values: Mapping[str, Any], out: Path) -> Path:
    """Execute a notebook in a fresh kernel of this Python and write it to ``out``.

    Raises:
        TstmetaError: a parameter is unknown or of the wrong type, and nothing was run; or a cell
            failed: says which and why, and where the notebook is as far as it ran.
    """
    apart([("--out", out)], [("NOTEBOOK", source)])
    checked = check(source, values)
    import nbformat
    import papermill
    from nbclient.exceptions import DeadKernelError

    draft = paths.home() / ".build" / "runs" / f"{source.stem}-{os.getpid()}.ipynb"
    draft.parent.mkdir(parents=True, exist_ok=True)
    # Nothing of the user's own IPython set-up may change a page, and its history file is not ours.
    os.environ["IPYTHONDIR"] = str(draft.parent / "ipython")
    logging.getLogger("papermill").setLevel(logging.ERROR)
    note(f"{source.stem}: running")
    try:
        notebook = papermill.execute_notebook(
            source,
            draft,
            parameters=checked,
            kernel_name="python3",
            language="python",
            progress_bar={"desc": source.stem, "leave": False} if sys.stderr.isatty() else False,
            request_save_on_cell_execute=False,  # it takes as long as many cells; a fault is saved
            kernel_manager_class=_this_python(),
            extra_arguments=["--log-level=CRITICAL"],  # interrupted, it would log a traceback
            start_timeout=180,  # on a busy machine a kernel needs its time
            iopub_timeout=180,  # a late picture must not be lost
            raise_on_iopub_timeout=True,
        )
    except papermill.PapermillExecutionError as error:
        raise TstmetaError(
            f"{source.name}: cell {error.cell_index + 1} failed with {error.ename}: "
            f"{error.evalue}\nThe notebook as far as it ran, with the traceback: {draft}"
        ) from error
    except DeadKernelError as error:
        draft.unlink(missing_ok=True)
        raise TstmetaError(
            f"{source.name}: the kernel died, most often because memory ran out. Run it alone."
        ) from error
    except BaseException:  # an interruption leaves nothing behind
        draft.unlink(missing_ok=True)
        raise
    with replacing(out) as fresh:
        nbformat.write(_tidied(notebook), fresh)
    draft.unlink()
    note(f"{source.stem}: {len(notebook.cells)} cells -> {out}")
    return out


def _this_python() -> type:
    """Starts kernels of the Python that runs now, whatever kernels a user installed; other users of
    this machine cannot listen in.
    """
    import zmq
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    class ThisPython(AsyncKernelManager):
        def __init__(self, **how: Any):
            how["kernel_spec_manager"] = KernelSpecManager(kernel_dirs=[])
            how["transport_encryption"] = "auto" if zmq.has("curve") else "disabled"
            super().__init__(**how)

    return ThisPython


#: The sign of a number that is shown as 0.
_MINUS_0 = re.compile(r"(?<![\w.])[-−](?=0\.0+(?!\d))")


def _tidied(notebook: Any) -> Any:
    """Without time stamps, and without −0.00 in tables."""
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell.id = "injected-parameters"
        for shown in (output.get("data", {}) for output in cell.get("outputs", [])):
            for kind in {"text/html", "text/plain"} & set(shown):
                shown[kind] = _MINUS_0.sub("", shown[kind])
    return notebook
