#!/usr/bin/env python3
"""From kill -9 of one worker of a MultiWorkerMirroredStrategy job to all of them stepping again, beside TensorFlow's own start
in the same run: of plain scripts, in which TensorFlow swallows SIGTERM, and of scripts that save on it (preemptible).
Usage: tensorflow_recovery.py BIN_DIR [REPEATS]; needs `./dev setup --tensorflow`, else it ends with 77.
Prints NAME <tab> CASE <tab> UNIT <tab> MEDIAN <tab> LEAST <tab> MOST, as the other measuring programs do.

A task has started when its log file is there, and steps when its log says so; both are looked at every 10 ms.
"""
import os
import pathlib
import signal
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "real"))
from harness import wait_for  # noqa: E402  pylint: disable=wrong-import-position
from tensorflow_rig import PATIENCE, TrainingJob, skip_without_tensorflow  # noqa: E402  pylint: disable=wrong-import-position

WORKERS = [f"worker:{index}" for index in range(3)]


def when(what, look):
    """The moment at which it was first seen to hold."""
    wait_for(what, look, PATIENCE, every=0.01)
    return time.monotonic()


def started(job, attempt):
    return when(f"attempt {attempt} to start", lambda: all(
        (job.out / "logs" / f"{task.replace(':', '-')}.attempt-{attempt}.stdout").exists() for task in WORKERS))


def stepping(job, attempt):
    return when(f"attempt {attempt} to step", lambda: all(job.steps(task, attempt) for task in WORKERS))


def one_run(programs, options):
    """Seconds: TensorFlow's own start; from the kill until all run again; until all step again."""
    job = TrainingJob(programs, "multi-worker", ["--steps=40", "--save-every=5", "--pause=0.05", *options],
                      ["tasks.worker.command=COMMAND"]).start()
    begin = started(job, 0)
    own_start = stepping(job, 0) - begin
    job.wait_for_step("worker:0", 8, attempt=0)
    os.kill(job.process_of("worker:1"), signal.SIGKILL)
    struck = time.monotonic()
    again = started(job, 1) - struck
    recovered = stepping(job, 1) - struck
    job.succeed()
    job.close()
    return own_start, again, recovered


def main():
    skip_without_tensorflow()
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    for script, options in {"plain": [], "preemptible": ["--preemptible"]}.items():
        runs = [one_run(sys.argv[1], options) for _ in range(repeats)]
        rows = {"TensorFlow's own start, process to first step": [run[0] for run in runs],
                "kill -9 of a worker to all processes started again": [run[1] for run in runs],
                "kill -9 of a worker to all stepping again": [run[2] for run in runs],
                "the same, less the own start of that run": [run[2] - run[0] for run in runs]}
        for case, values in rows.items():
            print(f"tfyarn run\t{script} script: {case}\ts\t{statistics.median(values):.6g}\t{min(values):.6g}\t{max(values):.6g}",
                  flush=True)


if __name__ == "__main__":
    main()
