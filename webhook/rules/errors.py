"""The two ways in which a review can fail, and nothing else.

    Refusal
    ├── BadReview    the call is malformed: HTTP 400, 408, 413 or 415
    └── Denied       the object is refused: HTTP 200, allowed false, a field path and the way out

Any other exception is a bug: the edge answers 500 and failurePolicy decides.
"""

from webhook.rules.reasons import Reason


class Refusal(Exception):
    """Base of the two families, never raised itself."""


class BadReview(Refusal):
    """The call is not an AdmissionReview that this server can read.

    `code` is the HTTP status (400, 408, 413 or 415); the message is one plain sentence.
    """

    def __init__(self, message: str, *, code: int = 400) -> None:
        super().__init__(message)
        self.code = code


class Denied(Refusal):
    """The object is refused. Raised by rules, turned into a Verdict by `admit`.

    `path` is a field path such as `metadata.labels[kueue.x-k8s.io/queue-name]`, `value` what
    stands there, and `why` names the rule and what to do instead. `code` is 422 for a value that
    is wrong and 403 for a change that is not allowed.
    """

    def __init__(
        self,
        path: str,
        value: object,
        why: str,
        *,
        code: int = 422,
        reason: Reason = Reason.INVALID_VALUE,
    ) -> None:
        super().__init__(f"{path}: {_head(code)}: {_shown(value)}{why}")
        self.path = path
        self.code = code
        self.reason = reason


def _head(code: int) -> str:
    return "Invalid value" if code == 422 else "Forbidden"


def _shown(value: object) -> str:
    return "" if value is None else f'"{value}": '
