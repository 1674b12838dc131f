"""What metrics run on: causal language models and the log-probabilities they give to tokens."""
