"""What the Secret must hold next, and when a replica serves it; ideas from cert-manager and OPA."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from webhook.pki import trust
from webhook.pki.mint import Pair, mint_authority, mint_leaf
from webhook.pki.rotation import (
    AUTHORITY,
    LONGEST_BUNDLE,
    Holding,
    Replica,
    Step,
    Terms,
    Unusable,
    advance,
    next_due,
    read,
)

NOW = datetime(2026, 11, 30, tzinfo=UTC)
NAME = "kueue-steps.kueue-steps-system.svc"
DAY = timedelta(days=1)
TERMS = Terms(NAME, 365 * DAY, 90 * DAY, timedelta(seconds=5))


@pytest.fixture(scope="module")
def first() -> Holding:
    """What is minted where nothing was."""
    holding, steps = advance(None, [], TERMS, NOW)
    assert steps == (Step.MINTED,)
    return holding


def test_what_is_minted_verifies_itself_and_is_read_back(first: Holding) -> None:
    """The bundle verifies the leaf for the Service, and the Secret's data says it all."""
    assert trust.vouches(first.bundle, first.leaf.certificate, NAME, NOW)
    assert read(first.data(), TERMS) == first
    assert set(first.data()) == {"tls.crt", "tls.key", "ca.crt", "ca.key"}


def test_nothing_changes_while_nothing_is_due(first: Holding) -> None:
    """Until two thirds of the leaf's life the very same content stands."""
    before = next_due(first) - timedelta(seconds=1)
    assert advance(first, first.bundle, TERMS, before) == (first, ())


def test_a_leaf_is_renewed_at_two_thirds_of_its_life(first: Holding) -> None:
    """After 60 of 90 days another leaf of the same authority takes its place."""
    assert next_due(first) == NOW + 60 * DAY
    after, steps = advance(first, [], TERMS, NOW + 60 * DAY)
    assert steps == (Step.LEAF_RENEWED,)
    assert (after.authority, after.bundle) == (first.authority, first.bundle)
    assert trust.expiry(after.leaf) == NOW + 150 * DAY


def test_a_new_authority_stands_beside_the_old_one_until_that_expires(first: Holding) -> None:
    """The bundle holds both after two thirds of a life, and the new one alone after it."""
    at = NOW + 365 * DAY * 2 / 3
    both, steps = advance(first, [], TERMS, at)
    assert steps == (Step.AUTHORITY_RENEWED,)
    assert set(both.bundle) == {first.authority_certificate, both.authority_certificate}
    assert trust.vouches(both.bundle, first.leaf.certificate, NAME, NOW)
    later = NOW + 365 * DAY
    alone, steps = advance(both, both.bundle, TERMS, later)
    assert Step.AUTHORITY_DROPPED in steps
    assert alone.bundle == (both.authority_certificate,)


def test_no_leaf_outlives_its_authority(first: Holding) -> None:
    """A leaf that is minted late ends with its authority."""
    terms = replace(TERMS, leaf_lifetime=300 * DAY)
    late, _ = advance(first, [], terms, NOW + 200 * DAY)
    assert trust.expiry(late.leaf) == trust.expiry(first.authority)


def test_authorities_that_registrations_carry_stay_trusted(first: Holding) -> None:
    """A Secret that is made anew does not take away what other replicas still serve."""
    other, _ = advance(None, [*first.bundle, *_stranger()], TERMS, NOW)
    assert set(other.bundle) == {first.authority_certificate, other.authority_certificate}
    third, _ = advance(None, [], TERMS, NOW)
    adopted, steps = advance(third, first.bundle, TERMS, NOW)
    assert steps == (Step.AUTHORITY_ADOPTED,)
    assert set(adopted.bundle) == {*first.bundle, *third.bundle}


def test_a_bundle_does_not_grow_for_ever() -> None:
    """However often the Secret is deleted, the bundle keeps to a bound, its own authority in it."""
    holding, _ = advance(None, [], TERMS, NOW)
    for day in range(LONGEST_BUNDLE + 3):
        holding, _ = advance(None, holding.bundle, TERMS, NOW + day * DAY)
    assert len(holding.bundle) == LONGEST_BUNDLE
    assert holding.authority_certificate in holding.bundle
    assert read(holding.data(), TERMS) == holding


def test_an_expired_secret_is_renewed_after_a_long_sleep(first: Holding) -> None:
    """Nobody ran for years: a new authority, and the old one is gone."""
    later = NOW + 1000 * DAY
    after, steps = advance(read(first.data(), TERMS), [], TERMS, later)
    assert steps == (Step.AUTHORITY_RENEWED,)
    assert after.bundle == (after.authority_certificate,)


def test_a_certificate_of_the_future_is_replaced(first: Holding) -> None:
    """A replica whose clock was years ahead minted it: nobody can verify it now."""
    after, steps = advance(first, [], TERMS, NOW - 100 * DAY)
    assert steps == (Step.AUTHORITY_RENEWED,)
    assert trust.vouches(after.bundle, after.leaf.certificate, NAME, NOW - 100 * DAY)


Data = dict[str, bytes]


def _stranger() -> trust.Certificates:
    return trust.certificates(mint_authority("somebody else", now=NOW).certificate)


def _foreign() -> Data:
    authority = mint_authority("somebody else", now=NOW)
    leaf = mint_leaf(authority, dns_names=[NAME], now=NOW)
    return Holding(authority, leaf, trust.certificates(authority.certificate)).data()


def _renamed(data: Data) -> Data:
    authority = Pair(data["ca.crt"], data["ca.key"])
    leaf = mint_leaf(authority, dns_names=["other.svc"], now=NOW)
    return data | {"tls.crt": leaf.certificate, "tls.key": leaf.key}


def _other() -> Data:
    return advance(None, [], TERMS, NOW)[0].data()


def _pair_of(data: Data) -> Data:
    return {key: data[key] for key in ("tls.crt", "tls.key")}


UNUSABLE: dict[str, tuple[Callable[[Data], Data], str]] = {
    "empty": (lambda _: {}, "it has no tls.crt, tls.key, ca.crt, ca.key"),
    "empty values": (lambda data: dict.fromkeys(data, b""), "it has no tls.crt"),
    "incomplete": (lambda data: data | {"ca.key": b""}, "it has no ca.key"),
    "rubbish": (lambda data: dict.fromkeys(data, b"rubbish"), "can't be read as PEM"),
    "not text": (lambda data: data | {"tls.crt": b"\xff\x00"}, "can't be read as PEM"),
    "cut short": (lambda data: data | {"tls.crt": data["tls.crt"][:200]}, "can't be read as PEM"),
    "a key that is none": (lambda data: data | {"tls.key": data["ca.crt"]}, "the key can't be"),
    "the key of another": (
        lambda data: data | {"tls.key": _other()["tls.key"]},
        "don't belong together",
    ),
    "the authority's key of another": (
        lambda data: data | {"ca.key": _other()["ca.key"]},
        "no certificate that belongs to ca.key",
    ),
    "the leaf of another authority": (
        lambda data: data | _pair_of(_other()),
        "does not verify",
    ),
    "somebody else's": (lambda _: _foreign(), "its authority is not"),
    "for another name": (_renamed, f"does not verify its certificate for {NAME}"),
}


@pytest.mark.parametrize(("spoil", "words"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_what_cannot_be_used_says_why(
    first: Holding, spoil: Callable[[Data], Data], words: str
) -> None:
    """A Secret that was spoilt is told from a good one, without a crash."""
    with pytest.raises(Unusable, match=words):
        read(spoil(first.data()), TERMS)


def test_only_the_authority_of_the_key_signs(first: Holding) -> None:
    """Any order of ca.crt is read, and the certificate of ca.key is found in it."""
    second, _ = advance(first, [], TERMS, NOW + 250 * DAY)
    data = second.data() | {"ca.crt": trust.as_pem(reversed(second.bundle))}
    assert read(data, TERMS) == second


class TestReplica:
    """When a replica goes over to another leaf."""

    def test_what_was_out_before_is_served_at_once(self, first: Holding) -> None:
        """A replica that starts later than the others need not wait."""
        seen = Replica().look(first, [first.ca_bundle] * 2, TERMS, NOW)
        assert seen.served == first.leaf

    def test_nothing_is_served_that_a_registration_does_not_verify(self, first: Holding) -> None:
        """One registration of two without the bundle is enough to wait."""
        assert Replica().look(first, [first.ca_bundle, b""], TERMS, NOW).served is None

    def test_without_registrations_the_leaf_is_served(self, first: Holding) -> None:
        """Nobody is there to verify it, so nobody is waited for."""
        assert Replica().look(first, [], TERMS, NOW).served == first.leaf

    def test_what_is_published_under_its_eyes_waits_for_api_servers(self, first: Holding) -> None:
        """A bundle that was missing and came is given time to be noticed."""
        seen = Replica().look(first, [b""], TERMS, NOW)
        out = seen.look(first, [first.ca_bundle], TERMS, NOW)
        assert out.served is None
        assert out.look(first, [first.ca_bundle], TERMS, NOW + TERMS.grace).served == first.leaf

    def test_a_wiped_bundle_starts_the_wait_anew(self, first: Holding) -> None:
        """Time counts only while the bundle stands."""
        seen = Replica().look(first, [b""], TERMS, NOW)
        for bundle in (first.ca_bundle, b"", first.ca_bundle):
            seen = seen.look(first, [bundle], TERMS, NOW)
        almost = NOW + TERMS.grace - timedelta(milliseconds=1)
        assert seen.look(first, [first.ca_bundle], TERMS, almost).served is None

    def test_a_leaf_of_a_new_authority_waits_and_the_old_one_is_served(
        self, first: Holding
    ) -> None:
        """Between publication and grace the old leaf goes on, and both are verified."""
        at = NOW + 250 * DAY
        renewed, _ = advance(first, [], TERMS, NOW + 240 * DAY)
        second, _ = advance(renewed, [], TERMS, at)
        seen = Replica().look(renewed, [renewed.ca_bundle], TERMS, at)
        waits = seen.look(second, [renewed.ca_bundle], TERMS, at)
        out = waits.look(second, [second.ca_bundle], TERMS, at)
        assert waits.served == out.served == renewed.leaf
        after = out.look(second, [second.ca_bundle], TERMS, at + TERMS.grace)
        assert after.served == second.leaf

    def test_a_leaf_of_the_same_authority_is_served_at_once(self, first: Holding) -> None:
        """Its authority is out already."""
        at = NOW + 61 * DAY
        renewed, _ = advance(first, [], TERMS, at)
        seen = Replica().look(first, [first.ca_bundle], TERMS, at)
        assert seen.look(renewed, [first.ca_bundle], TERMS, at).served == renewed.leaf

    def test_who_serves_what_nobody_verifies_does_not_wait(self, first: Holding) -> None:
        """Where the old leaf is of no use, the new one can only be better."""
        other, _ = advance(None, [], TERMS, NOW)
        seen = Replica().look(first, [first.ca_bundle], TERMS, NOW)
        assert seen.look(other, [other.ca_bundle], TERMS, NOW).served == other.leaf


def test_our_authority_is_known_by_name_and_key() -> None:
    """A stranger's certificate of our name is not taken for ours unless it is self-signed P-256."""
    own = mint_authority(AUTHORITY, now=NOW)
    signed = mint_leaf(own, dns_names=[NAME], now=NOW)
    adopted, _ = advance(None, trust.certificates(signed.certificate), TERMS, NOW)
    assert len(adopted.bundle) == 1
