"""The small world: a grammar that writes sentences, their rewrites in a style, and content errors.

``words.yaml`` and ``phrases.yaml`` hold what can be said.  ``words`` chooses facts, ``events`` says
what happens, ``scenes`` tells it as a source and as rewrites, ``testset`` writes the held-out set
of ``data/world``, and ``conversations`` what the embedded models learn from.
"""
