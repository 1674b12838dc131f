"""Recipes of the ledger, one module a paper: ``recipe(cell, bench)`` gives an Answer or Needs."""
