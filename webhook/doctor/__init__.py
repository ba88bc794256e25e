"""Examines an installation: what is wrong with it, and what to do. Reads only, decides nothing."""
