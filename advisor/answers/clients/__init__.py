"""Clients: real files in two languages, into which the numbers of one collection are filled."""
