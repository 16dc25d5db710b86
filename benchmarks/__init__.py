"""Timings, side by side with peers in one run: ``python -m benchmarks [name ...] [options]``.

Every module here with a function ``main(argv)`` is a benchmark; its name is the module's.
"""
