"""tstmeta: which automatic metrics of text style transfer can be trusted?"""

from importlib.metadata import version

__version__ = version("tstmeta")
