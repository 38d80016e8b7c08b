#!/usr/bin/env python3
"""Runs the measuring programs and prints their results as the tables of docs/performance.md.

Usage: run_all.py BUILD [--repeats N] [NAME...]. NAME is a part of a program's name; none = all.
"""
import argparse
import pathlib
import platform
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parent
# Debian's Python has the packages that apt installs; another one in PATH may not.
PYTHON = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else sys.executable


def programs(build, repeats):
    benches = build / "benches"
    yield "event_queue_bench", [benches / "event_queue_bench", repeats]
    yield "ns3_bench", [benches / "ns3_bench", repeats]
    yield "simgrid_bench", [benches / "simgrid_bench", min(repeats, 3)]
    yield "simpy_bench", [PYTHON, BENCH / "peers" / "simpy_bench.py", min(repeats, 3)]
    yield "gang_1000_bench", [benches / "gang_1000_bench", repeats]
    yield "restart_bench", [benches / "restart_bench", repeats]
    yield "am_heap_bench", [benches / "am_heap_bench"]
    yield "allocation_bench", [benches / "allocation_bench", repeats]
    yield "channel_bench", [benches / "channel_bench", repeats]
    yield "whole_runs", [sys.executable, BENCH / "whole_runs.py", build / "bin" / "tfsim", repeats]
    yield "report_pan", [sys.executable, BENCH / "report_pan.py", build / "bin" / "tfsim", repeats]


def machine():
    out = subprocess.run(["lscpu"], capture_output=True, text=True).stdout
    fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in out.splitlines())}
    compiler = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    return (f"{fields.get('Model name', 'unknown processor')}, family {fields.get('CPU family', '?')} model "
            f"{fields.get('Model', '?')}, {fields.get('CPU(s)', '?')} CPUs, L2 {fields.get('L2 cache', '?')}, "
            f"L3 {fields.get('L3 cache', '?')}; Linux {platform.release()}, g++ {compiler} -O2")


def results_of(name, command):
    if command[0] != PYTHON and not pathlib.Path(command[0]).exists():
        print(f"{name}: not built, left out", file=sys.stderr)
        return []
    print(f"running {name}", file=sys.stderr, flush=True)
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    if done.returncode == 77:
        print(f"{name}: what it needs is not installed, left out", file=sys.stderr)
        return []
    if done.returncode != 0:
        sys.exit(f"{name} ended with {done.returncode}")
    return [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 5]


def number(text):
    value = float(text)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("--repeats", type=int, default=10)
    arguments.add_argument("names", nargs="*")
    arguments = arguments.parse_args()
    rows = []
    for name, command in programs(arguments.build, arguments.repeats):
        if not arguments.names or any(wanted in name for wanted in arguments.names):
            rows += results_of(name, command)
    print(f"Machine: {machine()}.\n")
    print("| what | case | unit | median | least | most |\n|---|---|---|---|---|---|")
    for what, case, unit, *values in rows:
        print(f"| {what} | {int(case):,} pending |" if case.isdigit() else f"| {what} | {case} |", end="")
        print(f" {unit} | " + " | ".join(number(value) for value in values) + " |")


if __name__ == "__main__":
    main()
