#!/usr/bin/env python3
"""The examples that need nothing but Python end well, each in one attempt, and when a process is killed once. Those with TensorFlow
are in tensorflow_*.py. Commands for all of them work on a small machine. Usage: examples.py BIN_DIR [CASE...]"""
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys

from harness import Failure, Job, check, run_cases
from tensorflow_rig import ROOT

BIN = sys.argv[1]


def example(name, script):
    folder = ROOT / "examples" / name
    text = (folder / "job.yaml").read_text().replace("schema: tfyarn.job/v1\n", "")
    job = Job(BIN, text, {script: (folder / script).read_text()})
    code = job.run("-q")
    result = job.job()
    check(code == 0 and result["status"] == "SUCCEEDED", f"exit code {code}: {job.output}")
    check(result["restarts"] == {"task": 0, "gang": 0, "job": 0}, f"{result['restarts']}")
    return job


def one_task():
    job = example("one-task", "estimate.py")
    check("step 10 pi is about 3.1" in job.log_text("worker:0"), job.log_text("worker:0"))
    check((job.out / "shared/count.json").exists(), "its count is not in the shared directory")
    job.close()


def pytorch_env():
    job = example("pytorch-env", "rendezvous.py")
    for rank in range(3):
        check(f"rank {rank} of 3 met all others" in job.log_text(f"worker:{rank}"), job.log_text(f"worker:{rank}"))
    job.close()


def killed_once(name, script, task):
    """To its end, with a kill of the task's first process; again where that had ended by itself, as it is short."""
    folder = ROOT / "examples" / name
    for _ in range(20):
        job = Job(BIN, (folder / "job.yaml").read_text().replace("schema: tfyarn.job/v1\n", ""),
                  {script: (folder / script).read_text()}).start("-q")
        pid = None
        while pid is None and job.process.poll() is None:
            pid = job.process_of(task)
        if pid is not None:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pid = None
        code = job.end()
        ends = [attempt["exit_class"] for attempt in job.attempts(task)]
        check(code == 0 and job.job()["status"] == "SUCCEEDED", f"exit code {code}, {ends}: {job.output}")
        if "killed-external" in ends:
            check(ends == ["killed-external", "ok"], f"{ends}")
            return job
        job.close()
    raise Failure(f"{name} always ended before it was killed")


def one_task_killed():
    job = killed_once("one-task", "estimate.py", "worker:0")
    check("step 10 pi is about 3.1" in job.log_text("worker:0"), job.log_text("worker:0"))
    job.close()


def pytorch_env_killed():
    """All three meet again."""
    job = killed_once("pytorch-env", "rendezvous.py", "worker:0")
    for rank in range(3):
        check(f"rank {rank} of 3 met all others" in job.log_text(f"worker:{rank}"), job.log_text(f"worker:{rank}"))
    job.close()


def two_cores():
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])


def small_machine():
    """Each command that README, docs and the examples themselves give is let in where there are two cores."""
    pages = [ROOT / "README.md", ROOT / "docs/local.md", *sorted((ROOT / "examples").glob("*/job.yaml"))]
    commands = sorted({command for page in pages
                       for command in re.findall(r"tfyarn run (examples/[\w-]+/job\.yaml[^#\\\n]*)", page.read_text())})
    told = {pathlib.Path(command.split()[0]).parent.name for command in commands}
    there = {folder.name for folder in (ROOT / "examples").iterdir() if folder.is_dir()}
    check(told == there, f"commands for {told}, examples {there}")
    for command in commands:
        done = subprocess.run([os.path.abspath(f"{BIN}/tfyarn"), "run", *shlex.split(command), "--dry-run"], cwd=ROOT, text=True,
                              capture_output=True, preexec_fn=two_cores, check=False)
        check(done.returncode == 0, f"tfyarn run {command}: exit code {done.returncode}: {done.stderr}")


CASES = {"small-machine": small_machine, "one-task": one_task, "pytorch-env": pytorch_env, "one-task-killed": one_task_killed, "pytorch-env-killed": pytorch_env_killed}

if __name__ == "__main__":
    run_cases(CASES, sys.argv[2:])
