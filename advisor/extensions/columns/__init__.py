"""Several columns of one file: one plan for all of them."""
