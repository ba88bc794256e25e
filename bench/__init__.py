"""What stepping costs and saves, measured on the real control plane, kept as JSON, and drawn."""
