"""What kernels have in memory beside their imports: the data sets that come without texts.

Imported once by the process that kernels are copies of, see :mod:`tools.kernels`.
"""

import pandas as pd

# Frames with many columns of long texts are cut up in a third less time.  The schemas of tstmeta
# take what is set when they are imported.
pd.set_option("mode.string_storage", "python")

from tstmeta import data  # noqa: E402
from tstmeta.data import has_numbers  # noqa: E402

for name in data.names():
    if has_numbers(name) and not data.has_texts(name):
        data.load(name)
