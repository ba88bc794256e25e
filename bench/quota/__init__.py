"""What a quota of GPUs is worth: one trace of TrainJobs, whole, stepped, and with a CPU queue.

`trace.py` says what is submitted when, `player.py` submits it whatever the backlog, `recorder.py`
notes what the API server tells meanwhile, and `meter.py` makes figures of that. Everything else is
told, judged and drawn from the record alone, beside the bound of `ideal.py`.
"""
