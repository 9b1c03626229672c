"""Numbered schema changes, applied in order of their names."""
