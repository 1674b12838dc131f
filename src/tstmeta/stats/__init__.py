"""Statistics of meta-evaluation: matrices in, named results out.

Nothing here knows of texts, files or data sets.
"""
