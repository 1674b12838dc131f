"""Execute notebooks one after the other: ``python -m tools.kernels``, with a name a line on stdin.

What notebooks import takes longer than most of their cells.  So one process imports it, and each
kernel starts as a copy of that process.
"""

import multiprocessing
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

from tools.book import ROOT, recall
from tools.tables import caption
from tstmeta.console import note
from tstmeta.notebook import run_notebook
from tstmeta.schema import TstmetaError
from tstmeta.storage import replacing

#: Folders of ``.build``: main frames, notebooks to execute, notebooks as far as they ran.
FOLDERS = ("frames", "sources", "notebooks")
#: What a notebook computes in the open, and the same by the API.
FRAMES = ("headline", "fast")
COPIES = multiprocessing.get_context("forkserver")
#: What a kernel has when it starts.
IMPORTED = [
    *("tools.warm", "ipykernel.ipkernel", "IPython.display", "numpy", "pandas", "scipy.stats"),
    *("matplotlib.pyplot", "seaborn", "myst_nb"),
    *("pyarrow.parquet", "rouge_score.rouge_scorer", "sacrebleu.metrics", "sklearn.linear_model"),
    *("torch", "transformers.models.llama.modeling_llama", "sentence_transformers", "hypothesis"),
    *("tools.book", "tstmeta.analysis", "tstmeta.ledger", "tstmeta.scoring"),
]  # not tstmeta.plot: the drawing of figures is set up where it is first imported


def notebook(name: str) -> None:
    """Execute a notebook into ``book/results``; its main frames go to ``.build/frames``.

    The tests hold these frames against the frozen ones, so that nothing is computed twice.
    """
    frames, sources, notebooks = (ROOT / ".build" / folder for folder in FOLDERS)
    for folder in (frames, sources, notebooks):
        folder.mkdir(parents=True, exist_ok=True)
    copy, executed = sources / f"{name}.ipynb", notebooks / f"{name}.ipynb"
    lines = [f"{kind}.to_parquet({str(frames / f'{name}.{kind}.parquet')!r})" for kind in FRAMES]
    for second in ("judged_more", "independence", "weighted"):  # of chapters 14, 20 and 27
        file = frames / f"{name}.{second}.parquet"
        lines += [f"if {second!r} in globals():", f"    {second}.to_parquet({str(file)!r})"]
    source = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    source.cells.append(nbformat.v4.new_code_cell("\n".join(lines)))
    nbformat.write(source, copy)
    result = nbformat.read(run_notebook(copy, {}, executed), as_version=4)
    del result.cells[-1]
    for cell in result.cells:
        caption(cell)
    with replacing(ROOT / "book" / "results" / executed.name) as fresh:
        nbformat.write(result, fresh)


class Kernel(COPIES.Process):  # type: ignore[name-defined, misc]
    """A kernel as :class:`subprocess.Popen` would hold it."""

    stdin = stdout = stderr = None

    def __init__(self, words: list[str], env: dict[str, str], cwd: str | None):
        super().__init__()
        self.words, self.env, self.cwd = words, env, cwd or os.getcwd()

    def run(self) -> None:
        import pandas as pd
        from ipykernel.kernelapp import IPKernelApp

        pd.set_option("display.max_columns", 20)  # what pandas takes when a kernel imports it
        os.setsid()  # Ctrl-C is for the process that waits for this one
        os.chdir(self.cwd)
        os.environ.clear()
        os.environ.update(self.env)
        parent = f"--IPKernelApp.parent_handle={os.getppid()}"
        IPKernelApp.launch_instance([*self.words, parent])

    def poll(self) -> int | None:
        return self.exitcode

    def wait(self) -> int | None:
        self.join()
        return self.exitcode

    def send_signal(self, number: int) -> None:
        if self.exitcode is None:
            os.kill(self.pid, number)


class Copied(LocalProvisioner):
    """Starts a kernel as a copy; they talk by files, for a free port may be taken meanwhile."""

    async def pre_launch(self, **options: Any) -> dict[str, Any]:
        self.parent.transport = "ipc"
        self.parent.ip = str(Path(tempfile.mkdtemp(prefix="kernel-")) / "socket")
        return await super().pre_launch(**options)

    async def cleanup(self, restart: bool = False) -> None:
        shutil.rmtree(Path(self.parent.ip).parent, ignore_errors=True)
        await super().cleanup(restart)

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        self.process = Kernel(cmd[cmd.index("-f") :], options["env"], options.get("cwd"))
        self.process.start()
        self.pid = self.process.pid
        return self.connection_info


def main() -> None:
    """Execute what is named on stdin; says ``ok`` or ``failed`` of each on stdout."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # a kernel that prints past IPython answers nothing
    if sys.platform == "linux":  # elsewhere libraries do not survive a fork
        os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
        COPIES.set_forkserver_preload(IMPORTED)
        factory = KernelProvisionerFactory.instance()
        factory.provisioners["copied"] = SimpleNamespace(load=lambda: Copied)
        factory.default_provisioner_name = "copied"
    recall()
    for name in sys.stdin:
        try:
            notebook(name.strip())
            print("ok", file=answers, flush=True)
        except (TstmetaError, OSError) as error:
            note(f"error: {error}")
            print("failed", file=answers, flush=True)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
