#!/usr/bin/env python3
"""Every scenario with seeds drawn afresh: whether or not it meets its expectations, no invariant may break, and skipped
heartbeats must not show.

Usage: seed_sample.py TFSIM SCENARIO_FOLDER [--seeds COUNT] [--first SEED] [--jobs N]. Without --first the first seed is drawn and
printed. Scenarios that say `# ctest: slow`, the demo and sweeps are left out.
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import subprocess
import sys

# 0 and what a scenario's own verdict may be: job failed, killed, an expectation missed; a broken invariant is told by the result.
EXITS_WITH_RESULT = {0, 10, 11, 20, 21}


def run(tfsim, scenario, seed, *options):
    command = [tfsim, "run", str(scenario), "--seed", str(seed), "--json", "--quiet", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in EXITS_WITH_RESULT:
        return None, f"exit {done.returncode}: {done.stderr[-1500:]}"
    result = json.loads(done.stdout)
    broken = [f"{i['name']}: {i.get('first_detail')}" for i in result["invariants"] if i["violations"]]
    return result, "; ".join(broken)


def check(tfsim, scenario, seed):
    """What is wrong with this seed; empty when nothing is."""
    skipped, wrong = run(tfsim, scenario, seed)
    if wrong:
        return wrong
    full, wrong = run(tfsim, scenario, seed, "--no-elision")
    if wrong:
        return f"with every heartbeat: {wrong}"
    if skipped["digest"] != full["digest"]:
        return f"digest {skipped['digest']} with skipped heartbeats, {full['digest']} with every one"
    return ""


def scenarios(folder):
    for path in sorted(pathlib.Path(folder).rglob("*.yaml")):
        text = path.read_text()
        lines = text.splitlines()
        is_scenario = any(line.startswith("schema:") for line in lines)
        left_out = any(line.startswith(("# ctest: slow", "sweep:")) for line in lines)
        if is_scenario and not left_out and path.name != "demo.yaml":
            yield path


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("tfsim")
    arguments.add_argument("folder")
    arguments.add_argument("--seeds", type=int, default=3)
    arguments.add_argument("--first", type=int, default=random.SystemRandom().randrange(2, 2**31))
    arguments.add_argument("--jobs", type=int, default=2)
    given = arguments.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    print(f"seeds {given.first} to {seeds[-1]}", flush=True)
    cases = [(path, seed) for path in scenarios(given.folder) for seed in seeds]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for (path, seed), wrong in zip(cases, pool.map(lambda case: check(given.tfsim, *case), cases)):
            if wrong:
                failures += 1
                print(f"tfsim run {path} --seed {seed}\n  {wrong}", flush=True)
    print(f"{len(cases)} cases, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
