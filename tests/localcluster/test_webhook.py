"""A second installation of our webhook beside the shared one."""

from localcluster.manifests import Object
from localcluster.webhook import SHARED, Installation, renamed

MINE = Installation.beside("mine", "team-a")


def _named(kind: str, name: str, **content: object) -> Object:
    return {"kind": kind, "metadata": {"name": name, "namespace": "kueue-steps-system"}, **content}


RENDERED = [
    _named("ServiceAccount", "kueue-steps"),
    _named("ClusterRole", "kueue-steps", rules=[{"resources": ["jobs"]}]),
    _named("Service", "kueue-steps", spec={}),
    _named(
        "Role",
        "kueue-steps-certificates",
        rules=[{"resourceNames": ["kueue-steps-tls"]}, {"verbs": ["create"]}],
    ),
    _named("ClusterRole", "kueue-steps-certificates", rules=[{"resourceNames": ["a-kueue-steps"]}]),
    _named("RoleBinding", "kueue-steps-certificates", roleRef={"name": "kueue-steps-certificates"}),
    _named(
        "MutatingWebhookConfiguration",
        "a-kueue-steps",
        webhooks=[{"clientConfig": {"service": {"name": "kueue-steps", "port": 1}}}],
    ),
]


def test_it_has_only_what_differs_by_name() -> None:
    """Account, namespace and common rights are shared; the rest leads to the other names."""
    selector = {"matchLabels": {"kubernetes.io/metadata.name": "team-a"}}
    entry = {
        "clientConfig": {"service": {"name": "mine", "port": 1}},
        "namespaceSelector": selector,
    }
    assert renamed(RENDERED, MINE) == [
        _named("Service", "mine", spec={}),
        _named(
            "Role",
            "mine-certificates",
            rules=[{"resourceNames": ["mine-tls"]}, {"verbs": ["create"]}],
        ),
        _named("ClusterRole", "mine-certificates", rules=[{"resourceNames": ["a-a-mine"]}]),
        _named("RoleBinding", "mine-certificates", roleRef={"name": "mine-certificates"}),
        _named("MutatingWebhookConfiguration", "a-a-mine", webhooks=[entry]),
    ]


def test_its_registrations_come_before_the_shared_ones() -> None:
    """API servers call registrations by name, so that ours is called before anything is decided."""
    assert MINE.registration < SHARED.registration
    assert SHARED.is_shared
    assert not MINE.is_shared
