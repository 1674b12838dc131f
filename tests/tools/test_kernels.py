"""Kernels that start as copies of one process, and what they say to the task graph."""

import subprocess
import sys

import nbformat
import pandas as pd

from tests.test_notebook import written
from tests.written import ROOT
from tools import kernels

PAGE = """
import matplotlib.pyplot as plt
import pandas as pd
plt.plot([1, 2])
plt.show()
print(pd.get_option("display.max_columns"))
headline = fast = pd.DataFrame({"r": [seed / 2]})
"""


def test_a_copied_kernel_draws_and_prints_as_any_other_and_a_fault_does_not_stop_the_next(tmp_path):
    (tmp_path / "notebooks").mkdir()
    for name, code in (("broken", "1 / 0"), ("whole", PAGE)):
        written(tmp_path / "notebooks" / f"{name}.ipynb", code, takes="seed: int = 1")
    code = "import sys, pathlib as p; from tools import kernels; kernels.ROOT = p.Path(sys.argv[1])"
    code += "; kernels.IMPORTED[:] = kernels.IMPORTED[1:9]; kernels.main()"  # no data, no models
    command = [sys.executable, "-c", code, str(tmp_path)]
    how = {"capture_output": True, "text": True, "timeout": 300}
    done = subprocess.run(command, input="broken\nwhole\n", cwd=ROOT, **how)
    assert done.stdout.split() == ["failed", "ok"], done.stderr
    assert "broken.ipynb: cell 3 failed with ZeroDivisionError" in done.stderr
    result = nbformat.read(tmp_path / "book" / "results" / "whole.ipynb", as_version=4)
    figure, text = result.cells[-1].outputs
    assert "image/png" in figure.data
    assert text.text == "20\n"
    frames = [tmp_path / ".build" / "frames" / f"whole.{kind}.parquet" for kind in kernels.FRAMES]
    assert [pd.read_parquet(path)["r"].tolist() for path in frames] == [[0.5], [0.5]]
