#!/usr/bin/env python3
"""Eight seeds, one process at a time and two at a time: the summaries must be equal.

Usage: run_pool.py TFSIM SCENARIO.
"""
import json
import subprocess
import sys

FROM_THE_MACHINE = ("wall_seconds", "peak_rss_bytes")


def summary(tfsim, scenario, at_once):
    done = subprocess.run([tfsim, "run", scenario, "--seeds", "1..8", "-j", at_once, "--json"], capture_output=True,
                          text=True)
    if done.returncode not in (0, 20):
        print(done.stderr)
        sys.exit(f"-j {at_once}: exit {done.returncode}")
    document = json.loads(done.stdout)
    for key in FROM_THE_MACHINE:
        document.pop(key, None)
    return document


def main():
    tfsim, scenario = sys.argv[1:3]
    alone, together = summary(tfsim, scenario, "1"), summary(tfsim, scenario, "2")
    if alone != together:
        print(json.dumps(alone, indent=1))
        print(json.dumps(together, indent=1))
        sys.exit("the summaries differ")
    print(f"{alone['runs']} runs, equal summaries")


if __name__ == "__main__":
    main()
