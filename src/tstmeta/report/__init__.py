"""Tables and figures that notebooks show, and the ledger of printed cells."""
