"""The benchmarks of docs/benchmarks.md: `python -m tests.bench.NAME` prints one row of its table each."""
