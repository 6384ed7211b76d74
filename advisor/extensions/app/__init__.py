"""The page of ``ldp-advise app``: every answer on it is that of a command line, which it shows."""
