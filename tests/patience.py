"""How much longer than on an idle machine a test waits before it calls something late.

Each test program measures it when it starts: a fixed piece of work, beside whatever else this machine is doing. So no test
fails because its machine is slow, and one that waits in vain on a fast one ends soon. A test that starts others hands them
its own measure in TFYARN_SLOWNESS.
"""
import os
import time

# What the work below takes on an idle core of 2020, in seconds; slower cores are taken for busy ones.
NOMINAL = 0.05
# The machine may be busier later than it was at the start; and no wait is for ever.
LEAST, MOST = 1.5, 20.0


def measured():
    start = time.perf_counter()
    total = 0
    for number in range(1_000_000):
        total += number
    return min(MOST, max(LEAST, LEAST * (time.perf_counter() - start) / NOMINAL))


def slowness():
    """A factor, at least LEAST; the same for the whole of a test, and for what it starts."""
    if "TFYARN_SLOWNESS" not in os.environ:
        os.environ["TFYARN_SLOWNESS"] = f"{measured():.2f}"
    return float(os.environ["TFYARN_SLOWNESS"])


def patience(seconds):
    """`seconds` as this machine needs them; three times as many in a tree with sanitizers."""
    return seconds * slowness() * (3 if os.environ.get("TFYARN_SANITIZED") else 1)
