"""A test set for a new style, written by a model, checked by rules, judged by people.

A source gets four rewrites, a full 2 x 2 like the contrast set: the style shift is strong or light,
the content is kept or carries one error.  :mod:`.plan` says what is wanted, :mod:`.steps` what is
asked, :mod:`.build` asks it, :mod:`.checks` and :mod:`.verdicts` send doubtful rows to a person
(:mod:`.table`), and :mod:`.export` makes the data set.
"""
