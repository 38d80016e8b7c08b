#!/usr/bin/env python3
"""Many tasks at once on a small machine. Usage: many.py BIN_DIR [CASE...]"""
import pathlib
import sys

from harness import SANITIZED, Job, check, run_cases

BIN = sys.argv[1]


def sleepers():
    """Far more tasks than processors, each of a second: all succeed. What the machine does for each must not grow with their
    number: 250 took minutes, in which the AM was taken for dead, when every end made every watcher read every process."""
    tasks = 60 if SANITIZED else 250
    job = Job(BIN, f"""\
name: many
framework: generic
strategy: independent
tasks:
  worker: {{instances: {tasks}, memory: 64MiB, command: [sleep, "1"]}}
""")
    code = job.start("-q").end(300)
    result = job.job()
    attempts = [len(job.attempts(f"worker:{index}")) for index in range(tasks)]
    job.close()
    check(code == 0 and result["status"] == "SUCCEEDED", f"exit code {code}: {result['diagnostics']}\n{job.output}")
    check(attempts == [1] * tasks, f"attempts {attempts}")


CASES = {"sleepers": sleepers}

if __name__ == "__main__":
    check(pathlib.Path(BIN, "tfyarn").exists(), f"no tfyarn in {BIN}")
    run_cases(CASES, sys.argv[2:])
