"""A test set for a new style, written by a model, checked by rules, judged by people.

A source gets four rewrites, a full 2 x 2 like the contrast set: the style shift is strong or light,
the content is kept or carries one error.  :mod:`.steps` has the questions, :mod:`.run` asks them,
and :mod:`.checks` sends doubtful rows to a person.
"""
