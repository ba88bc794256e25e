"""How cost grows with the number of TrainJobs: of three steps each, whole and stepped, all at once.

What one TrainJob costs must not depend on how many there are: a total that grows faster than their
number would be controllers in a fight, and memory that grows with it a leak.
"""
