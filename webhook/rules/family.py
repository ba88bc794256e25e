"""Who really belongs to whom: whoever may make objects may name any owner and any label.

JobSet and Trainer name what they make after whom they make it for; one with another name only
claims to be theirs.
"""

import re

from webhook.rules import names
from webhook.rules.objects import Metadata


def is_of_trainjob(jobset: Metadata) -> bool:
    """Whether a JobSet is a TrainJob's: Trainer gives it the TrainJob's name."""
    owner = jobset.controller
    return bool(owner and owner.is_a("TrainJob", names.TRAINER_GROUP) and owner.name == jobset.name)


def is_step(job: str, jobset: str, step: str, replicas: int) -> bool:
    """Whether a Job of this name is one of a JobSet's for a step with so many replicas."""
    head, _, number = job.rpartition("-")
    is_numbered = re.fullmatch("0|[1-9][0-9]{0,8}", number)
    return head == f"{jobset}-{step}" and is_numbered is not None and int(number) < replicas
