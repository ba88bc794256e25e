"""Everything that talks to the API server. The only package that imports kubernetes."""
