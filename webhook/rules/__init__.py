"""The rules: a review goes in, a Verdict comes out.

Everything here is pure and synchronous. No module of this package awaits, logs, reads a clock,
an environment variable or the cluster; what has to be known comes in as an argument, what has
to be reported comes out in the Verdict.
"""
