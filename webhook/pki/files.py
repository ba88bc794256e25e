"""The development certificates on disk: the one place of this room that touches files."""

import os
from pathlib import Path

from webhook.pki.mint import Pair


def write_pair(pair: Pair, certificate: Path, key: Path) -> None:
    """Write both halves; the key is readable by its owner only, from the first byte on."""
    certificate.parent.mkdir(parents=True, exist_ok=True)
    write_private(key, pair.key)
    certificate.write_bytes(pair.certificate)


def write_private(path: Path, content: bytes) -> None:
    """Replace the file by one with mode 0600 and this content; who reads it finds all of it."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    draft.replace(path)
