"""Kueue admission, step by step."""
