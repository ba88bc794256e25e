"""The frame of a test run: what its workers share, made before them and ended after them."""

import pytest
from hypothesis import settings

from tests.stack import shared

FAILED = pytest.StashKey[bool]()

# A machine that is busy with a control plane makes no example wrong.
settings.register_profile("unhurried", settings.default, deadline=None)
settings.load_profile("unhurried")


def pytest_configure(config: pytest.Config) -> None:
    """Makes the folder that the workers find the control plane in."""
    if not _is_worker(config):
        shared.begin()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remembers whether the control plane's logs are worth keeping."""
    session.config.stash[FAILED] = session.testsfailed > 0


def pytest_unconfigure(config: pytest.Config) -> None:
    """Ends the control plane, after a failure and after Ctrl-C too."""
    if not _is_worker(config):
        shared.end(failed=config.stash.get(FAILED, False))


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")
