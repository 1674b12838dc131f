"""In and out: our metrics by the interfaces of other libraries, our data in the formats of others.

One file a format; nothing else in the package knows of them.
"""
