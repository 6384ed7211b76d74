"""From results to documents, and from documents to each format."""
