"""How cost grows with the number of TrainJobs: from the record of `make bench-growth`. Pure."""

from typing import Final

from bench.growth.page import COST, SPEED, grouped, limits
from bench.growth.record import Record

TEXT: Final = """\
## How cost grows

So many TrainJobs of three steps at once, with quota for all of them. Whole, Kueue has one Workload
for each; stepped one for each step, the last of them when the downloads are over: that is the price
of admission step by step. Finished TrainJobs of earlier plays stay, so that a later play carries
more; sizes that were played once took no turns."""

WANTED: Final = (
    *("creates/s", "admissions/s", "all done s", "p99 ms", "own p99 ms"),
    *("reviews", "writes", "API server CPU ms", "our CPU ms", "our peak MiB"),
)
EXPLAINED: Final = """\
*p99* is a call's by the API server's clock, read from classes that end at 25, 100 and 500 ms; *own
p99* is our server's log. Reviews, writes (of TrainJobs, JobSets, Jobs and Workloads, status
included) and CPU are of one TrainJob. 10,000 TrainJobs (`LARGE=1`) were not played for this page:
that takes hours at the rates below. What the limit was with the most of them:"""


def section(record: Record) -> str:
    """The section in Markdown."""
    columns = {column[0]: column for column in (*SPEED, *COST)}
    figures = grouped(record.runs, [columns[title] for title in WANTED])
    return "\n\n".join((TEXT, figures, EXPLAINED, limits(record)))
