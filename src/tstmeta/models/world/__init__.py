"""The small world: a grammar that writes sentences, their rewrites in a style, and content errors.

``draws`` chooses, ``words`` holds the lexicon, ``events`` says what happens, ``scenes`` tells it as
a source and as rewrites (``phrases`` has the styles' words), ``loose`` makes texts without grammar
for copying, and ``smallworld`` writes the held-out test set.
"""
