"""Several columns of a file, with a joint plan."""
