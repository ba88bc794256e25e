"""`python -m webhook` is the command kueue-steps."""

from webhook.cli import main

main()
