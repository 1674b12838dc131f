"""What metrics run on: causal language models and the log-probabilities that they give to tokens."""
