"""What can go wrong while the demo plays."""

from localcluster.errors import LocalClusterError


class DemoFailed(LocalClusterError):
    """The cluster refused something, did not answer, or a TrainJob did not get done."""
