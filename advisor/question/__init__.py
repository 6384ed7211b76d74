"""What people ask, checked and frozen, before anything is computed."""
