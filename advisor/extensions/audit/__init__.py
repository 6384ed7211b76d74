"""Attacks on reports, and the privacy loss that they prove."""
