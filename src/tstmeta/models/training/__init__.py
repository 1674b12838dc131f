"""Training the embedded backbone: tokenizer, examples, the loop, and what the result is worth.

Nothing is imported here: the parts need torch, and a command's help must not wait for it.
"""
