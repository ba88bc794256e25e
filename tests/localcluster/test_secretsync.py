"""The copy of a Secret in a folder."""

from pathlib import Path

from localcluster.secretsync import write

CERTIFICATES = {"tls.crt": b"crt", "tls.key": b"key", "ca.crt": b"ca"}


def test_all_files_are_written_and_the_certificate_last(tmp_path: Path) -> None:
    """Whoever sees tls.crt finds the rest beside it."""
    assert write(CERTIFICATES, tmp_path)[-1] == "tls.crt"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == CERTIFICATES


def test_what_is_there_already_is_left_alone(tmp_path: Path) -> None:
    """A manager that watches its files is not woken for nothing."""
    write(CERTIFICATES, tmp_path)
    assert write(CERTIFICATES, tmp_path) == []


def test_a_rotated_certificate_is_replaced(tmp_path: Path) -> None:
    """Only what changed is written."""
    write(CERTIFICATES, tmp_path)
    assert write(CERTIFICATES | {"tls.crt": b"new"}, tmp_path) == ["tls.crt"]
    assert (tmp_path / "tls.crt").read_bytes() == b"new"


def test_nothing_is_taken_away(tmp_path: Path) -> None:
    """While the Secret can't be read, the files stay."""
    write(CERTIFICATES, tmp_path)
    assert write({}, tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 3
