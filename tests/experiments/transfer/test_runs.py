"""What the runs of transfer models leave, read again."""

import pytest

from experiments.transfer.runs import trajectories
from tstmeta.schema import TstmetaError


def test_a_file_of_a_run_that_lacks_columns_is_named(tmp_path):
    (file := tmp_path / "M0-0" / "trajectory.csv").parent.mkdir()
    file.write_text("model,seed,step,value,n\nM0,0,1,0.5,9\n")
    with pytest.raises(TstmetaError, match=r"trajectory\.csv: no column part, metric, basis"):
        trajectories(tmp_path)
