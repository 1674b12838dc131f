"""Training what metrics run on: language models and models of style, by one loop.

Nothing is imported here: the parts need torch, and a command's help must not wait for it.
"""
