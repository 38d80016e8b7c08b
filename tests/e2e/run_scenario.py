#!/usr/bin/env python3
"""Runs one scenario as CTest does: it must pass, and give the same digest whether idle heartbeats are skipped or not, and in
another locale and time zone. One that says `# ctest: skips heartbeats` has too many of them to simulate each here; with
--carry-all it does, and `./dev soak` takes the demo's minutes for it.

Usage: run_scenario.py TFSIM SCENARIO [--carry-all].  Exit 77 (skipped) when the scenario's traces are not on this machine, or no other
locale.
"""
import json
import os
import pathlib
import subprocess
import sys

from other_place import other_place


def run(tfsim, scenario, *options, **environment):
    command = [tfsim, "run", scenario, "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode == 3 and "TFSIM_TRACES" in done.stderr:
        print(done.stderr)
        sys.exit(77)
    try:
        return done.returncode, json.loads(done.stdout), done.stderr
    except json.JSONDecodeError:
        print(f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        sys.exit(1)


def main():
    tfsim, scenario = sys.argv[1:3]
    carry_all = sys.argv[3:] == ["--carry-all"]
    code, result, errors = run(tfsim, scenario)
    if result["schema"] == "tfsim.ensemble/v1":
        print(json.dumps({k: result[k] for k in ("runs", "deadlock_rate") if k in result}))
        for expectation in result.get("expectations", []):
            print("ok  " if expectation["passed"] else "FAIL", expectation["text"], "got", expectation["got"])
        if code != 0:
            print(errors)
        sys.exit(code)
    for expectation in result["expectations"]:
        print("ok  " if expectation["passed"] else "FAIL", expectation["text"], "got", expectation["got"])
    for invariant in result["invariants"]:
        if invariant["violations"]:
            print("BROKEN", invariant["name"], invariant.get("first_detail"))
    if code != 0:
        print(f"exit {code}: {errors}")
        sys.exit(1)
    with open(scenario, encoding="utf-8") as file:
        skips = "# ctest: skips heartbeats" in file.read().splitlines() and not carry_all
    other = [] if skips else ["--no-elision"]
    place = other_place(pathlib.Path(tfsim).resolve().parents[1] / "locale")
    _, again, _ = run(tfsim, scenario, *other, **(place or {}))
    if again["digest"] != result["digest"]:
        print(f"digest {result['digest']}, and {again['digest']} in another locale and time zone", *other)
        sys.exit(1)
    print(f"digest {result['digest']}, {result['events']} events, {again['events']} the second time", *other)
    sys.exit(0 if place else 77)


if __name__ == "__main__":
    main()
