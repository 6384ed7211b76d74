"""``code`` and ``explain``: from a pair to files that can be deployed, and from a member to code that uses it."""
