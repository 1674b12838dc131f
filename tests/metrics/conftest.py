"""Properties of metrics have no deadline: the first example of METEOR loads WordNet."""

from hypothesis import settings

settings.register_profile("metrics", deadline=None)
settings.load_profile("metrics")
