"""The quota over time while the demo plays: what is reserved and what is used, whole and stepped.

The parts know nothing of each other's insides: `outcome.py` makes a record of what the demo saw,
`record.py` reads it back and refuses what is incomplete, `picture.py` draws the record alone. So
the picture can be drawn again without a run, and shows nothing that is not in the record.
"""
