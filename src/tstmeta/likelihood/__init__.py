"""The zero-shot likelihood scorer of Pauli et al. (2025), Section 3.3."""
