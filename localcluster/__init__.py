"""A real control plane without containers, for the demo and for tests.

API server, scheduler, Job controller, Kueue, JobSet and Trainer are built from their own Go
modules and run as processes; only the kubelet is simulated. Start reading at `cluster.py`.
"""
