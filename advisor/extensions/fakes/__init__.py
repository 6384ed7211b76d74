"""Users who may be fake."""
