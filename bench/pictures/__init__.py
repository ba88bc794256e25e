"""The pictures of the README and of docs/: each once for a light page and once for a dark one.

Both versions have the same geometry and differ in their colours only. Nothing here runs anything.
"""
