"""What the rules answer: one frozen value, for the response, the log line and the metric."""

from dataclasses import dataclass

from webhook.rules.errors import Denied
from webhook.rules.objects import View
from webhook.rules.reasons import Reason


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one review.

    `before` and `after` are the object as it came and as it is to be stored; where nothing is
    edited they are one value, or None. `denial` is set where the object is refused.
    """

    reason: Reason
    before: View | None = None
    after: View | None = None
    warnings: tuple[str, ...] = ()
    denial: Denied | None = None

    @property
    def decision(self) -> str:
        """`denied`, `patched` or `allowed`: the coarse outcome for logs and metrics."""
        if self.denial is not None:
            return "denied"
        return "allowed" if self.before == self.after else "patched"
