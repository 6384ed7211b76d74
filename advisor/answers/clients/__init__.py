"""Clients: template files in two languages, filled with the numbers of a collection."""
