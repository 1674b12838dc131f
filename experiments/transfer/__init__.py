"""The transfer models of Pang and Gimpel (2019): the command, and what its runs leave."""
