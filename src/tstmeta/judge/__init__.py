"""A large language model asked for ratings, and for the texts of a test set.

A *prompt* (:mod:`.prompts`) turns one item, or one source with all its outputs, into messages.  A
*server* (:mod:`.base`) answers them; the *runner* keeps every answer and asks nothing twice.  What
an answer says is read by :mod:`.answers`: a rating is what the model wrote, or a row that says why
there is none.  Nothing is ever invented.
"""
