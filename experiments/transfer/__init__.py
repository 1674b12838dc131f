"""The transfer models of Pang and Gimpel (2019); nothing but the command imports this."""
