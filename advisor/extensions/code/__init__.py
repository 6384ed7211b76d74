"""``code``: from a pair to files that can be deployed."""
