"""Waiting by a clock that nobody sets: loaded into all processes of a cluster, as a preload of Dask or by import.

Tornado's loops, and Dask's batches of messages, take their deadlines from the system clock. When that is put back, what
waits for a deadline waits until the old time comes again: for hours, if the change was hours, and with it all work.
Loaded before the first loop runs, this has both ends of these deadlines follow the monotonic clock.
"""

import time

import distributed.batched
import tornado.ioloop

tornado.ioloop.IOLoop.time = lambda self: time.monotonic()  # type: ignore[method-assign]
distributed.batched.time = time.monotonic  # type: ignore[attr-defined]
