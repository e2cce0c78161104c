"""Exact video poker mathematics: numbers in, numbers out; no files, clock, randomness or Dask."""
