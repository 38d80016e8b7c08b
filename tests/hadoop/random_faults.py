#!/usr/bin/env python3
"""Jobs on a real cluster with a random fault at a random moment, and what the verdict must be.
Usage: random_faults.py BIN_DIR [RUNS [SEED]]; exit code 77 without Hadoop.

Each run draws a small job (strategy, budget, whether a task fails by itself) and one fault: a task's process, a container, a
NodeManager alone or with its containers, the AM, the ResourceManager or the DataNode is killed with -9; daemons are started again
later. The verdict is compared with what this file works out by itself from docs/policies.md: it does not ask the program. After each
run no process, container or file of the job may be left.
"""
import os
import random
import signal
import subprocess
import sys
import time

import hadoop_cluster
import hadoop_web
from hadoop_processes import ClusterError, send, wait_until
from losses import kill_node, node_of
from submitted import PATIENCE, Job, all_work, check, pid_of, variable_of

RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 30)
TASKS = 3


class Case:
    """A drawn job and its fault."""

    def __init__(self, draw):
        self.strategy = draw.choice(["independent", "multi-worker"])
        self.failing = draw.randrange(TASKS) if draw.random() < 0.2 else None
        self.fault = draw.choice(["task", "container", "node-manager", "node", "am", "rm", "data-node"])
        # What may be there already when a job has just been submitted, or is not a part of it.
        self.early = self.fault in ("node-manager", "rm", "data-node") and draw.random() < 0.5
        self.index = draw.randrange(TASKS)
        self.after = draw.random() * (6 if self.early else 1)
        self.away = draw.random() * 3
        self.infrastructure = draw.choice([0, 5]) if self.fault in ("task", "container", "node") else 5
        self.am_attempts = draw.choice([1, 3]) if self.fault == "am" else 3

    def __str__(self):
        return (f"{self.strategy}, retries.infrastructure {self.infrastructure}, {self.am_attempts} AM attempts, failing "
                f"{self.failing}; {self.fault} of {self.index} killed {self.after:.2f} s after {'submission' if self.early else 'start'}, "
                f"away {self.away:.2f} s")

    def expected(self):
        """A kill pays from `infrastructure`, exit 1 from `user`, of which there is none, an AM from its attempts."""
        no_budget = self.fault in ("task", "container", "node") and self.infrastructure == 0
        no_attempt = self.fault == "am" and self.am_attempts == 1
        return "failed" if no_budget or no_attempt or self.failing is not None else "succeeded"


def job_of(cluster, case):
    failing = -1 if case.failing is None else case.failing
    return Job(cluster, f"""\
name: random
framework: generic
strategy: {case.strategy}
retries: {{user: 0, infrastructure: {case.infrastructure}}}
deadlines: {{blame: 1s, stop: 1s}}
am: {{attempts: {case.am_attempts}}}
tasks:
  worker:
    instances: {TASKS}
    memory: 128MiB
    placement: {{spread: node}}
    command:
    - bash
    - -c
    - 'echo attempt $TFYARN_ATTEMPT pid $$ >> %s/worker-$TFYARN_TASK_INDEX; while [ ! -e %s/end ]; do sleep 0.1; done; [ $TFYARN_TASK_INDEX != {failing} ]'
""")


def strike(cluster, case, job):
    """Returns the daemon that is away now, or None."""
    if case.fault == "rm":
        cluster.kill("rm")
        return "rm"
    if case.fault == "data-node":
        cluster.kill("dn1")
        return "dn1"
    if case.fault == "node-manager":
        # Early: one of those that may serve the job.
        name = cluster.of_kind("nm")[case.index] if case.early else node_of(cluster, pid_of(job, case.index))
        cluster.kill(name)
        return name
    if case.fault == "am":
        send(job.masters()[0], signal.SIGKILL)
        return None
    pid = pid_of(job, case.index)
    if case.fault == "node":
        name = node_of(cluster, pid)
        kill_node(cluster, name)
        return name
    if case.fault == "container":
        cluster.kill(variable_of(pid, "CONTAINER_ID"))
    else:
        os.kill(pid, signal.SIGKILL)
    return None


def nothing_is_left(cluster, job):
    user = cluster.plan["user"]

    def look():
        running = job.processes("tfyarn-a") + job.processes(str(job.folder))
        containers = [node["id"] for node in cluster.nodes() if node["numContainers"]]
        status, answer = hadoop_web.webhdfs("GET", cluster.webhdfs, f"/user/{user}/.tfyarn/staging", "LISTSTATUS", **{"user.name": user})
        files = b"application_" in answer if status == 200 else status != 404
        return not running and not containers and not files
    wait_until("the end of every process, container and file of the job", PATIENCE, look)


def run(cluster, case):
    job = job_of(cluster, case).submit()
    if not case.early:
        all_work(job, 0)
    time.sleep(case.after)  # When it strikes is what is random, not what the test waits for.
    away = strike(cluster, case, job)
    if away:
        time.sleep(case.away)
        cluster.start(away)
    (job.folder / "end").touch()
    code, result = job.end()
    check(result.get("status") == case.expected() and code == (0 if case.expected() == "succeeded" else 10),
          f"{result} and exit code {code} where {case.expected()} was due")
    nothing_is_left(cluster, job)


def main():
    if what := hadoop_cluster.missing():
        print(f"skipped: {what}")
        return 77
    print(f"seed {SEED}, {RUNS} runs; again: random_faults.py BIN_DIR {RUNS} {SEED}", flush=True)
    draw = random.Random(SEED)
    failed = 0
    with hadoop_cluster.Cluster.up(nodes=4) as cluster:
        for number in range(RUNS):
            case = Case(draw)
            begun = time.monotonic()
            try:
                run(cluster, case)
            except (ClusterError, subprocess.TimeoutExpired, KeyError, OSError) as failure:
                failed += 1
                print(f"run {number}: {case}: FAILED: {failure}", flush=True)
                cluster.start()
            else:
                print(f"run {number}: {case}: ok, {time.monotonic() - begun:.0f} s", flush=True)
    print(f"{RUNS - failed} of {RUNS} right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
