"""Training what metrics run on; the parts need torch, so nothing is imported here."""
