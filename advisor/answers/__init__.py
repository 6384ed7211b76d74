"""Answers: from a checked question to a frozen result, without words or pictures."""
