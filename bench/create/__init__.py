"""What the API server's clients feel: creates and updates with and without our registration.

One control plane, one server, two namespaces: our registration leaves one of them out. Every client
goes from one to the other request by request, so that whatever else happens happens to both.
"""
