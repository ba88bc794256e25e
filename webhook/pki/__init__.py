"""Certificates for the webhook's TLS listener: minted here, written elsewhere."""
