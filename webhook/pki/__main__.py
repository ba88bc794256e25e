"""`python -m webhook.pki`: mint a development authority and server pair into a folder."""

from datetime import UTC, datetime
from pathlib import Path

import click

from webhook.pki.files import write_pair
from webhook.pki.mint import mint_authority, mint_leaf

SERVICE = "kueue-steps.kueue-steps-system.svc"


@click.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("certs"),
    show_default=True,
    help="Folder for ca.crt, ca.key, tls.crt and tls.key.",
)
@click.option(
    "--dns", "dns_names", multiple=True, default=(SERVICE, "localhost"), show_default=True
)
@click.option("--ip", "addresses", multiple=True, default=("127.0.0.1",), show_default=True)
def main(out: Path, dns_names: tuple[str, ...], addresses: tuple[str, ...]) -> None:
    """Mint a certificate authority and a server pair for development."""
    now = datetime.now(UTC)
    authority = mint_authority("kueue-steps development", now=now)
    leaf = mint_leaf(authority, dns_names=dns_names, addresses=addresses, now=now)
    write_pair(authority, out / "ca.crt", out / "ca.key")
    write_pair(leaf, out / "tls.crt", out / "tls.key")
    click.echo(f"{out}/: ca.crt, ca.key, tls.crt, tls.key for {', '.join(dns_names + addresses)}")


if __name__ == "__main__":
    main()
