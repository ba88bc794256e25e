"""The section `certificates` of the configuration."""

from datetime import timedelta
from pathlib import Path

import pytest

from webhook import settings
from webhook.pki.rotation import Terms
from webhook.sections import CertificatesSection

HEAD = "apiVersion: config.kueue-steps.io/v1alpha1\nkind: Configuration\ncertificates: "


def _section(folder: Path, text: str) -> CertificatesSection:
    path = folder / "configuration.yaml"
    path.write_text(HEAD + text)
    return settings.load(path).certificates


def test_the_server_manages_its_own_certificates_by_default() -> None:
    """A year for the authority, ninety days for the leaf, for the Service of the manifests."""
    section = settings.load(None).certificates
    assert section.source == "selfManaged"
    assert section.terms == Terms(
        "kueue-steps.kueue-steps-system.svc",
        timedelta(days=365),
        timedelta(days=90),
        timedelta(seconds=5),
    )


def test_names_and_durations_are_taken_from_the_file(tmp_path: Path) -> None:
    """Durations are spelt as in Kubernetes."""
    section = _section(
        tmp_path, "{service: s, namespace: n, authorityLifetime: 48h, leafLifetime: 1h30m}"
    )
    assert section.terms.dns_name == "s.n.svc"
    assert section.terms.authority_lifetime == timedelta(days=2)
    assert section.terms.leaf_lifetime == timedelta(minutes=90)


UNUSABLE = {
    "no source": ("{source: magic}", r"certificates\.source: "),
    "a number without a unit": ("{leafLifetime: 90}", r"certificates\.leafLifetime: .*8760h"),
    "no time at all": ("{leafLifetime: 0s}", r"certificates\.leafLifetime: .*between 100ms"),
    "a leaf that outlives its authority": (
        "{authorityLifetime: 24h}",
        "leafLifetime must not be longer than authorityLifetime",
    ),
    "a grace that eats the leaf's life": (
        "{leafLifetime: 10s}",
        "publicationGrace must not be longer than a quarter of leafLifetime",
    ),
    "an unknown key": ("{lifetime: 1h}", r"certificates\.lifetime: unknown key"),
}


@pytest.mark.parametrize(("text", "words"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_what_cannot_be_used_is_named(tmp_path: Path, text: str, words: str) -> None:
    """The key, and what would be right."""
    with pytest.raises(settings.BadConfiguration, match=words):
        _section(tmp_path, text)
