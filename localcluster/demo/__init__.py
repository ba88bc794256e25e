"""One small trace, played twice on a real control plane: whole, as Kueue does it, and stepped.

Everything shown was read from the API server while it happened; nothing is simulated but the
kubelet. Start reading at `play.py`, the order of things.
"""
