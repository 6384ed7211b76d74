"""Reports that a shuffler cuts from their users."""
