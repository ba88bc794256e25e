"""What one review costs: our server beside Kueue's own webhook, on the same bytes in one run.

The reviews are recorded from the API server of the run itself, so that their owners are alive while
both sides answer them. Measuring keeps every repeat; judging and printing take the record alone.
"""
