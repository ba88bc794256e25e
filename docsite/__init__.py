"""The documentation site: the reference that follows from code, and what mkdocs needs beside it."""
