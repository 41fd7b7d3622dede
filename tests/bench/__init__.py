"""The benchmarks of docs/benchmarks.md; each `python -m tests.bench.NAME` prints rows of its tables."""
