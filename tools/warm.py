"""What kernels have in memory beside their imports: data sets and the scores that are passed on.

Imported once by the process that kernels are copies of, see :mod:`tools.kernels`, and where pages
are written.
"""

from contextlib import suppress

import pandas as pd

from tstmeta import data
from tstmeta.data import shipped
from tstmeta.schema import TstmetaError

# Frames with many columns of long texts are cut up in a third less time.
pd.set_option("mode.string_storage", "python")

for name in filter(data.available, data.names()):
    with suppress(TstmetaError):  # a notebook that needs it says what is wrong
        data.load(name)
        for file in sorted((shipped.folder(name) / "scores").glob("*.parquet")):
            shipped.by_metric(name, file.stem)
