"""What must hold on a control plane at every moment, and the watcher that says when it does not.

Start reading at `violation.py`, the four sentences. The rules are pure and live in a file each;
`judge.py` feeds them; `watcher.py` is the only one that talks to the API server.
"""
