"""How large an input may be; apart from the readers, for those who only check."""

MOST_LABELS = 2_000_000  # with more, a column identifies people and is no category
