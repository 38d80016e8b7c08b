#!/usr/bin/env python3
"""SimPy in the hold model: every pending event is a process that waits for a timeout, again and again.

Usage: simpy_bench.py [REPEATS]. Exit 77 where SimPy is not installed. One in ten makes one more timeout that no process waits for.
"""
import random
import statistics
import sys
import time

try:
    import simpy
except ImportError:
    sys.exit(77)

OPERATIONS = 300_000


class Enough(Exception):
    pass


def hold(environment, gaps, counter):
    while True:
        yield environment.timeout(next(gaps))
        counter[0] -= 1
        if counter[0] <= 0:
            raise Enough
        if counter[0] % 10 == 0:
            environment.timeout(next(gaps))


def endless_gaps():
    source = random.Random(1)
    draws = [source.expovariate(1.0) for _ in range(1 << 18)]
    while True:
        yield from draws


def once(pending):
    environment = simpy.Environment()
    counter = [OPERATIONS]
    gaps = endless_gaps()
    for _ in range(pending):
        environment.process(hold(environment, gaps, counter))
    # Processes start at time 0: their first step is not part of the measurement.
    environment.run(until=1e-12)
    start = time.process_time()
    try:
        environment.run()
    except Enough:
        pass
    return (time.process_time() - start) / OPERATIONS * 1e9


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    for pending in (1_000, 100_000, 1_000_000):
        values = [once(pending) for _ in range(repeats)]
        print(f"SimPy\t{pending}\tns/event\t{statistics.median(values):.6g}\t{min(values):.6g}\t{max(values):.6g}", flush=True)


if __name__ == "__main__":
    main()
