"""The transfer models of Pang and Gimpel (2019): what M0 to M7 do to metrics while they learn.

``configuration`` reads which losses a model has, ``corpus`` selects sentences, ``network`` and
``losses`` are the paper's Sections 4.1 to 4.5, ``trainer`` follows them, ``trajectory`` scores what
was written on the way.  Nothing but the command imports this; its parts need torch.
"""
