#!/usr/bin/env python3
"""What a test that fails leaves behind: no process. Usage: failing.py BIN_DIR [CASE...]"""
import pathlib
import subprocess
import sys

from harness import Failure, Job, check, processes, run_cases

BIN = sys.argv[1]

# The task's child leaves its session and its parent: it is no descendant of tfyarn any more once that is killed.
JOB = """\
name: failing
framework: generic
tasks:
  worker: {memory: 64MiB, shell: "echo began; cd %s/shared; setsid sleep 3600 & sleep 3600"}
"""


def fails():
    """Run by the cases below, in a program of its own."""
    run = Job(BIN, JOB).start("-q")
    run.wait_for_line("worker:0", "began")
    print("folder", run.folder, flush=True)
    raise Failure("as it is meant to")


def breaks():
    """As fails(), with an error that no case expects."""
    run = Job(BIN, JOB).start("-q")
    run.wait_for_line("worker:0", "began")
    print("folder", run.folder, flush=True)
    raise KeyError("as it is meant to")


def leaves_nothing(case):
    done = subprocess.run([sys.executable, __file__, BIN, case], capture_output=True, text=True, check=False)
    check(done.returncode == 1, f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    folder = next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("folder "))
    left = [argv for pid, _, argv in processes() if any(folder in part for part in argv) or lies_in(pid, folder)]
    subprocess.run(["rm", "-rf", folder], check=True)
    check(not left, f"processes are left: {left}")


def lies_in(pid, folder):
    try:
        return str(pathlib.Path(f"/proc/{pid}/cwd").readlink()).startswith(folder)
    except OSError:
        return False


CASES = {"a case that fails": lambda: leaves_nothing("fails"), "a case that breaks": lambda: leaves_nothing("breaks")}
WRONG = {"fails": fails, "breaks": breaks}
run_cases(WRONG if sys.argv[2:] and sys.argv[2] in WRONG else CASES, sys.argv[2:])
