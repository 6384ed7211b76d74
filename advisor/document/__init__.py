"""Answers as documents, and one renderer for each format."""
