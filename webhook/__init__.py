"""Admission webhooks that make Kueue admit TrainJobs and JobSets one step at a time."""

__version__ = "0.1.0"
