"""What kernels have in memory beside their imports: the data sets that come without texts.

Imported once by the process that kernels are copies of, see :mod:`tools.kernels`.
"""

import pandas as pd

from tstmeta import data
from tstmeta.data import shipped

# Frames with many columns of long texts are cut up in a third less time.
pd.set_option("mode.string_storage", "python")

for name in data.names():
    if shipped.available(name) and not data.has_texts(name):
        data.load(name)
