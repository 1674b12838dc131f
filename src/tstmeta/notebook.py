"""Run a notebook with other parameters: ``tstmeta run 02_content_preservation -p dataset lai``.

A notebook declares what it takes in one cell tagged ``parameters``, each with a type::

    dataset: str = "auto"
    level: Literal["pooled", "within-task"] = "pooled"

papermill executes it, but ignores a parameter that the notebook does not know and checks no type;
here both are refused.  The executed notebook appears whole or not at all, and holds no time stamp
and no path.
"""

from __future__ import annotations

import ast
import difflib
import logging
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import nbformat
import yaml
from pydantic import TypeAdapter, ValidationError

from .console import note
from .data import paths
from .schema import TstmetaError
from .secrecy import conceal

#: The names that a type in a parameters cell may use.
_TYPES = {"Literal": Literal, "str": str, "int": int, "float": float, "bool": bool, "list": list}


class ParameterError(TstmetaError):
    """Parameters that a notebook does not take; lists every fault and what it does take."""


class Parameter(NamedTuple):
    """What a notebook declares: its name, its type as written, its default."""

    name: str
    type: str
    default: Any

    def __str__(self) -> str:
        return f"{self.name}: {self.type} = {self.default!r}"

    def convert(self, value: Any, text: bool = False) -> Any:
        """The value if it is of the declared type.

        Args:
            text: the value was typed at a prompt, so that ``3``, ``true``, ``[a, b]`` and ``a,b``
                may stand for a number, a truth value and a list.

        Raises:
            ValueError: it is not of that type; the message says what is expected.
        """
        kind = _adapter(self.type)
        tries: list[tuple[Any, bool]] = [(value, True)]
        if text:
            tries += [(value, False), (_yaml(value), True), (_split(value), True)]
        for candidate, strict in tries:
            try:
                return kind.validate_python(candidate, strict=strict)
            except ValidationError as error:
                reason = error.errors()[0]["msg"]
        wrong = f"must be {self.type}, got {value!r}"
        raise ValueError(f"{wrong} ({reason})" if "Literal" not in self.type else wrong)


def find(name: str | Path) -> Path:
    """A notebook by path, or by the name it has in ``notebooks/``.

    Raises:
        TstmetaError: there is none; names those there are.
    """
    folder = paths.home() / "notebooks"
    for path in (Path(name), folder / name, folder / f"{name}.ipynb"):
        if path.is_file():
            return path
    known = ", ".join(sorted(path.stem for path in folder.glob("*.ipynb"))) or "none"
    raise TstmetaError(f"no notebook at {name} (in {folder}: {known})")


def parameters(source: Path) -> dict[str, Parameter]:
    """What a notebook takes, by name, in the order declared.

    Raises:
        TstmetaError: not a notebook, not one cell tagged ``parameters``, or one without a type.
    """
    try:
        cells = [
            cell.source
            for cell in nbformat.read(source, as_version=4).cells
            if "parameters" in cell.metadata.get("tags", [])
        ]
    except (OSError, ValueError, TypeError, AttributeError, nbformat.ValidationError) as error:
        raise TstmetaError(f"{source} is not a Jupyter notebook: {error}") from error
    if len(cells) != 1:
        raise TstmetaError(f"{source} needs one cell tagged 'parameters', it has {len(cells)}")
    try:
        return {one.name: one for one in map(_declared, _assignments(cells[0]))}
    except (SyntaxError, ValueError, NameError, TypeError) as error:
        raise TstmetaError(f"{source}, cell tagged 'parameters': {error}") from error


def check(source: Path, given: Mapping[str, Any], text: bool = False) -> dict[str, Any]:
    """The given parameters, each of its declared type.

    Args:
        text: the values were typed at a prompt (see :meth:`Parameter.convert`).

    Raises:
        ParameterError: unknown names and values of the wrong type, all of them, with what is known.
    """
    known = parameters(source)
    checked, faults = {}, []
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            faults.append(f"{name}: unknown" + (f", did you mean {near[0]}?" if near else ""))
            continue
        words = value if isinstance(value, list | tuple) else [value]
        if any(isinstance(one, str) and conceal(one) != one for one in words):
            faults.append(
                f"{name}: a URL with a user, password or query would stand in the notebook for all "
                "to read; leave it out, and give a key in the variable OPENAI_API_KEY"
            )
            continue
        try:
            checked[name] = known[name].convert(value, text)
        except ValueError as error:
            faults.append(f"{name}: {error}")
    if faults:
        rows = [f"{source.name} cannot use:", *(f"  {fault}" for fault in faults)]
        rows += ["It takes:", *(f"  {one}" for one in known.values())]
        raise ParameterError("\n".join(rows))
    return checked


def run_notebook(source: Path, given: Mapping[str, Any], out: Path) -> Path:
    """Execute a notebook in a fresh kernel of this Python and write it to ``out``.

    The working directory is the current one.  Progress goes to standard error.

    Raises:
        ParameterError: a parameter is unknown or of the wrong type; nothing was run.
        TstmetaError: a cell failed; says which and why, and where the notebook is as far as it ran.
    """
    import papermill
    from nbclient.exceptions import DeadKernelError

    values = check(source, given)
    draft = paths.home() / ".build" / "runs" / f"{source.stem}-{os.getpid()}.ipynb"
    log = draft.with_suffix(".log")
    draft.parent.mkdir(parents=True, exist_ok=True)
    # Nothing of the user's own IPython set-up may change a page, and its history file is not ours.
    os.environ["IPYTHONDIR"] = str(draft.parent / "ipython")
    # papermill's own reading of the parameters cell knows fewer types than ours: it would complain.
    logging.getLogger("papermill").setLevel(logging.ERROR)
    started = time.monotonic()
    note(f"{source.stem}: running")
    try:
        notebook = papermill.execute_notebook(
            source,
            draft,
            parameters=values,
            kernel_name="python3",
            language="python",
            progress_bar={"desc": source.stem, "leave": False} if sys.stderr.isatty() else False,
            kernel_manager_class=_this_python(log),
            # on a busy machine a kernel needs its time, and a late picture must not be lost
            start_timeout=180,
            iopub_timeout=180,
            raise_on_iopub_timeout=True,
        )
    except papermill.PapermillExecutionError as error:
        raise TstmetaError(
            f"{source}: cell {error.cell_index + 1} failed with {error.ename}: {error.evalue}\n"
            f"The notebook as far as it ran, with the traceback: {draft}"
        ) from error
    except DeadKernelError as error:
        draft.unlink(missing_ok=True)
        raise TstmetaError(
            f"{source}: the kernel died, most often because memory ran out. Run it alone.\n"
            f"What it said last: {log}"
        ) from error
    except BaseException:  # an interruption leaves nothing behind
        draft.unlink(missing_ok=True)
        log.unlink(missing_ok=True)
        raise
    out.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(_timeless(notebook), draft)
    os.replace(draft, out)
    log.unlink()
    seconds = time.monotonic() - started
    note(f"{source.stem}: {len(notebook.cells)} cells in {seconds:.0f} s -> {out}")
    return out


def _this_python(log: Path) -> type:
    """Starts kernels of the Python that runs now, whatever kernels a user installed.

    Args:
        log: what the kernel itself complains of goes here.
    """
    import zmq
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from traitlets import default

    class ThisPython(AsyncKernelManager):
        @default("kernel_spec_manager")
        def _no_folders(self) -> KernelSpecManager:
            return KernelSpecManager(kernel_dirs=[], ensure_native_kernel=True)

        @default("transport_encryption")
        def _unheard(self) -> str:  # others on this machine cannot listen in
            return "auto" if zmq.has("curve") else "disabled"

        async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
            with log.open("wb") as file:
                await super().start_kernel(**{**options, "stderr": file})

    return ThisPython


def _timeless(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook without times, paths and random ids: the same results give the same bytes."""
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell.id = "injected-parameters"
    return notebook


def _assignments(cell: str) -> list[ast.AnnAssign]:
    found = []
    for statement in ast.parse(cell).body:
        if isinstance(statement, ast.Assign):
            name = ast.unparse(statement.targets[0])
            raise ValueError(f"{name} has no type; write {name}: str = ...")
        if isinstance(statement, ast.AnnAssign):
            found.append(statement)
    return found


def _declared(statement: ast.AnnAssign) -> Parameter:
    name, kind = ast.unparse(statement.target), ast.unparse(statement.annotation)
    if statement.value is None:
        raise ValueError(f"{name} has no default")
    one = Parameter(name, kind, ast.literal_eval(statement.value))
    one.convert(one.default)
    return one


def _adapter(kind: str) -> TypeAdapter[Any]:
    # The text is a type expression of the notebook that is about to be executed anyway.
    return TypeAdapter(eval(kind, {"__builtins__": {}}, _TYPES))


def _yaml(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def _split(text: str) -> Any:
    return text if "[" in text else [part.strip() for part in text.split(",")]
