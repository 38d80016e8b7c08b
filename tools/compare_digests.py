#!/usr/bin/env python3
"""Two programs, one digest: runs scenarios with both and compares.

Usage: compare_digests.py [--sample N [--seed S]] TFSIM TFSIM [SCENARIO...]. Without scenarios: all of scenarios/ that are not slow,
several at once; with --sample so many of them that are not large either, which a fresh seed draws that it prints.
The second program's run must pass, too (exit 0). Exit 77 when the only scenario's traces are not on this machine.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys


def quick_scenarios(marks):
    """All but those that carry one of the marks."""
    for path in sorted(pathlib.Path("scenarios").rglob("*.yaml")):
        lines = path.read_text(encoding="utf-8").splitlines()
        if any(line.startswith("schema:") for line in lines) and not any(f"# ctest: {mark}" in lines for mark in marks):
            yield str(path)


def run(tfsim, scenario):
    done = subprocess.run([tfsim, "run", scenario, "--json"], capture_output=True, text=True)
    if done.returncode == 3 and "TFSIM_TRACES" in done.stderr:
        return None, "skipped: its traces are not here"
    if done.returncode != 0:
        return None, f"{tfsim} ended with {done.returncode}\n{done.stderr[-6000:]}"
    document = json.loads(done.stdout)
    if "digest" in document:
        return document["digest"], ""
    # An ensemble: what its runs came to, less what the machine had to do with it.
    for key in ("wall_seconds", "peak_rss_bytes"):
        document.pop(key, None)
    return json.dumps(document, sort_keys=True), ""


def compare(programs, scenario):
    """The verdict in words: same, skipped, or FAIL with the reason."""
    first, why = run(programs[0], scenario)
    if first is None:
        return ("skipped" if why.startswith("skipped") else "FAIL"), why
    second, why = run(programs[1], scenario)
    if second is None:
        return "FAIL", why
    if first != second:
        return "FAIL", f"{first[:2000]}\nis not\n{second[:2000]}"
    return "same", first if len(first) < 40 else "ensemble"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--sample", type=int, metavar="N")
    arguments.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    arguments.add_argument("programs", nargs=2, metavar="TFSIM")
    arguments.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    given = arguments.parse_args()
    programs = given.programs
    scenarios = given.scenarios or list(quick_scenarios(("slow", "large") if given.sample else ("slow",)))
    if given.sample:
        print("a sample of seed", given.seed)
        scenarios = sorted(random.Random(given.seed).sample(scenarios, min(given.sample, len(scenarios))))
    counts = {"same": 0, "skipped": 0, "FAIL": 0}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for scenario, (verdict, detail) in zip(scenarios, pool.map(lambda s: compare(programs, s), scenarios)):
            counts[verdict] += 1
            print(f"{verdict:8}{scenario} {detail}")
    print(", ".join(f"{number} {verdict}" for verdict, number in counts.items()))
    if counts["FAIL"]:
        sys.exit(1)
    sys.exit(0 if counts["same"] else 77)


if __name__ == "__main__":
    main()
