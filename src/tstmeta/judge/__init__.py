"""A large language model asked for ratings, and for the texts of a test set.

A *prompt* turns items into messages, a *server* answers them, the *runner* keeps every answer and
asks nothing twice.  :mod:`.answers` reads a rating, or says why there is none; none is invented.
"""
