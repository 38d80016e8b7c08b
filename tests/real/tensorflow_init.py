#!/usr/bin/env python3
"""What `tfyarn init` writes trains with real TensorFlow, as it is written, to its end, and a killed worker costs it the steps since
the last checkpoint. Usage: tensorflow_init.py BIN_DIR"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from harness import PATIENCE, check, run_cases
from tensorflow_rig import TrainingJob, skip_without_tensorflow

BIN = sys.argv[1]
WORKERS = ["worker:0", "worker:1"]


def survives_a_kill():
    with tempfile.TemporaryDirectory(prefix="tfyarn-init-") as folder:
        done = subprocess.run([str(pathlib.Path(BIN) / "tfyarn"), "init", folder], capture_output=True, text=True, timeout=PATIENCE,
                              check=False)
        check(done.returncode == 0, f"init: {done}")
        job = TrainingJob(BIN, folder).start()
    job.wait_for_step("worker:0", 25, attempt=0)
    os.kill(job.process_of("worker:1"), signal.SIGKILL)
    job.wait_until_resumed(WORKERS)
    job.succeed()
    decided = job.only_restart()
    check(decided["cause"]["task"] == "worker:1" and decided["paid"] == "infrastructure", f"{decided}")
    steps = {job.check_resumed(task, 1, WORKERS) for task in WORKERS}
    check(len(steps) == 1 and steps.pop() >= 20, "they did not go on from one checkpoint")
    for task in WORKERS:
        check(job.steps(task, 1)[-1] == 200, f"{task} ended after step {job.steps(task, 1)[-1:]}")
    job.close()


CASES = {"survives-a-kill": survives_a_kill}

if __name__ == "__main__":
    skip_without_tensorflow()
    run_cases(CASES, sys.argv[2:])
