"""The page of ``ldp-advise app``: each answer on it equals that of a command line, which the page shows."""
