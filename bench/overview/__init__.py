"""One page of the documentation for all benches: `docs/benchmarks.md`, from their records.

Nothing is measured here; each bench has a page of its own with every cell.
"""
