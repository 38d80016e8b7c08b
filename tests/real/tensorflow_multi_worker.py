#!/usr/bin/env python3
"""MultiWorkerMirroredStrategy when a worker dies, hangs or is preempted: all start again from their checkpoint, once, and only
the first cause pays. Usage: tensorflow_multi_worker.py BIN_DIR [CASE...]"""
import os
import re
import signal
import sys

from harness import check, run_cases
from tensorflow_rig import TrainingJob, skip_without_tensorflow

BIN = sys.argv[1]
PLAIN = ["--steps=40", "--save-every=5", "--pause=0.05"]
OPTIONS = [*PLAIN, "--preemptible"]
WORKERS = ["worker:0", "worker:1", "worker:2"]
CHIEF_AND_WORKERS = ["chief:0", "worker:0", "worker:1"]
SECOND = 1_000_000_000
USER_MAY_NOT_PAY = "retries={user: 0, infrastructure: 1}"


def as_written():
    """The example as it is, past its first checkpoint."""
    job = TrainingJob(BIN, "multi-worker").start()
    job.wait_for_step("worker:0", 30, attempt=0)
    return job


def training(tasks, options=None):
    """Started, and past its first checkpoint."""
    settings = ["tasks.worker.command=COMMAND", USER_MAY_NOT_PAY]
    if "chief:0" in tasks:
        settings += ["tasks.worker.instances=2", "tasks.chief={memory: 1GiB, command: COMMAND}"]
    job = TrainingJob(BIN, "multi-worker", options or OPTIONS, settings).start()
    job.wait_for_step(tasks[0], 8, attempt=0)
    return job


def all_start_again(job, tasks, agents, cause):
    """To the end. `cause`: the task (None: any), its exit and its class. Returns the step from which they went on."""
    job.wait_until_resumed(tasks)
    check(job.agents_of(tasks) == agents, "the agents are others")
    result = job.succeed()
    decided = job.only_restart()
    found = decided["cause"]
    check((found.get("exit"), found["exit_class"]) == cause[1:] and found["task"] in (cause[0] or tasks), f"the cause is {found}")
    check(decided["paid"] == "infrastructure", f"paid by {decided['paid']}")
    check(sorted(decided["tasks"]) == sorted(tasks), f"{decided['tasks']} start again")
    check(result["restarts"] == {"task": 0, "gang": 1, "job": 0} and result["epochs"] == 2, f"{result['restarts']}, {result['epochs']}")
    steps = {job.check_resumed(task, 1, tasks) for task in tasks}
    check(len(steps) == 1, f"they resumed from {steps}")
    containers = {attempt["container"] for task in tasks for attempt in job.attempts(task)}
    check(len(containers) == len(tasks), f"containers {containers}")
    # A process that was quicker than the order to stop has ended with 1, and no budget paid for it.
    for task in tasks:
        first = job.attempts(task)[0]
        of_itself = first["exit"] in (0, 1, 75) and first["exit_class"] != "ok"
        check(task == found["task"] or of_itself or first["exit_class"] == "killed-by-us", f"{task}: {first}")
    return steps.pop()


def worker_killed():
    job = as_written()
    agents = job.agents_of(WORKERS)
    os.kill(job.process_of("worker:1"), signal.SIGKILL)
    all_start_again(job, WORKERS, agents, ("worker:1", 137, "killed-external"))
    job.close()


def chief_killed():
    """Of plain scripts, in which TensorFlow takes note of SIGTERM and goes on: they do not get `deadlines.stop` for that."""
    job = training(CHIEF_AND_WORKERS, PLAIN)
    agents = job.agents_of(CHIEF_AND_WORKERS)
    os.kill(job.process_of("chief:0"), signal.SIGKILL)
    all_start_again(job, CHIEF_AND_WORKERS, agents, ("chief:0", 137, "killed-external"))
    stops = job.am_messages("StopProcess")
    check(stops and all(stop["grace_ns"] == SECOND for stop in stops if stop["attempt"] == 0), f"{stops}")
    job.close()


def worker_stopped():
    """Its peers find out, and end with 1: they are its victims. /proc shows who stands still, and that one is the cause at once."""
    job = training(WORKERS)
    agents = job.agents_of(WORKERS)
    os.kill(job.process_of("worker:2"), signal.SIGSTOP)
    all_start_again(job, WORKERS, agents, ("worker:2", None, "timeout"))
    why = job.only_restart()["cause"]["detail"]
    check("stopped (state T)" in why, f"the cause is told as: {why}")
    ends = [job.attempts(task)[0]["exit"] for task in ("worker:0", "worker:1")]
    check(1 in ends, f"no process ended by itself: {ends}")
    job.close()


def preempted():
    """SIGTERM to one: all save at one step and leave with 75."""
    job = training(WORKERS)
    agents = job.agents_of(WORKERS)
    os.kill(job.process_of("worker:1"), signal.SIGTERM)
    job.wait_until_resumed(WORKERS)
    left = {int(step) for task in WORKERS
            for step in re.findall(r"^preempted after step (\d+)", job.log_text(task, 0), re.MULTILINE)}
    check(len(left) == 1, f"they left after steps {left}")
    step = all_start_again(job, WORKERS, agents, (None, 75, "user-retryable"))
    check(step == left.pop(), f"resumed from step {step}")
    job.close()


CASES = {"worker-killed": worker_killed, "chief-killed": chief_killed, "worker-stopped": worker_stopped, "preempted": preempted}

if __name__ == "__main__":
    skip_without_tensorflow()
    run_cases(CASES, sys.argv[2:])
