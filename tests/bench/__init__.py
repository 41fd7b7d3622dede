"""The benchmarks of DESIGN section 12: `python -m tests.bench.NAME` prints one row of its table each."""
