#!/usr/bin/env python3
"""Whole runs of tfsim, as a user starts them: how fast simulated time goes by, and what a small run costs from start to exit.

Usage: whole_runs.py TFSIM [REPEATS]. Prints lines as bench/summary.h does. The Philly replay needs TFSIM_TRACES. Runs with and
without skipped heartbeats must give one digest; that is checked here, too.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent / "scenarios"


def report(name, case, unit, values):
    print(f"{name}\t{case}\t{unit}\t{statistics.median(values):.6g}\t{min(values):.6g}\t{max(values):.6g}", flush=True)


def run(tfsim, scenario, *options):
    """Wall seconds from start to exit, and the result; nothing when a trace is missing."""
    start = time.perf_counter()
    done = subprocess.run([tfsim, "run", str(ROOT / scenario), "--json", "--quiet", *options], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode == 3 and "TFSIM_TRACES" in done.stderr:
        return None
    if done.returncode != 0:
        sys.exit(f"{scenario} {options}: exit {done.returncode}\n{done.stderr[-3000:]}")
    return seconds, json.loads(done.stdout)


def measure(tfsim, name, scenario, repeats, *options):
    """Reports wall time, factor of real time, events per second and memory; returns the digest."""
    runs = []
    for _ in range(repeats):
        one = run(tfsim, scenario, *options)
        if one is None:
            print(f"{name}: skipped, TFSIM_TRACES has no such trace", file=sys.stderr)
            return None
        runs.append(one)
    results = [result for _, result in runs]
    simulated, events = results[0]["simulated_seconds"], results[0]["events"]
    report(name, "start to exit", "s", [seconds for seconds, _ in runs])
    report(name, "simulated time / wall time", "x", [simulated / seconds for seconds, _ in runs])
    report(name, "events", "events/s", [events / result["wall_seconds"] for result in results if result["wall_seconds"] > 0])
    report(name, "peak memory", "MiB", [result["peak_rss_bytes"] / 2**20 for result in results])
    return results[0]["digest"]


def main():
    tfsim = sys.argv[1]
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    measure(tfsim, "small scenario (failover/worker-node-dies)", "failover/worker-node-dies.yaml", repeats)
    quick = measure(tfsim, "1,000 nodes, 200 jobs, 1 h, a crash a minute", "bench/steady.yaml", repeats)
    full = measure(tfsim, "the same with every heartbeat", "bench/steady.yaml", min(repeats, 3), "--no-elision")
    if quick != full:
        sys.exit(f"steady.yaml: digest {quick} with skipped heartbeats, {full} with all")
    measure(tfsim, "Philly trace, 82,247 jobs", "philly-replay.yaml", min(repeats, 3))


if __name__ == "__main__":
    main()
