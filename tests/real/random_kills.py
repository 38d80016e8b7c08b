#!/usr/bin/env python3
"""Jobs with a random kill -9 at a random moment, and what the verdict must be. Usage: random_kills.py BIN_DIR [RUNS [SEED]]

Each run draws a small job (strategy, tasks, budgets, how each task ends) and one thing to kill (a task's process, an agent, the
AM), kills it after a random time, and compares the verdict with what this file works out by itself from the rules in
docs/policies.md: which budget pays, whether it is enough, who is to blame. It does not ask the program.
"""
import os
import random
import signal
import sys
import time

from harness import Failure, Job, check, is_running, wait_for

BIN = sys.argv[1]
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 30)


class Case:
    """A drawn job and its kill."""

    def __init__(self, draw):
        self.strategy = draw.choice(["independent", "multi-worker"])
        self.tasks = draw.randint(1, 3)
        self.infrastructure = draw.choice([0, 3])
        self.user = draw.choice([0, 2])
        self.am_attempts = draw.choice([1, 2])
        self.failing = draw.randrange(self.tasks) if draw.random() < 0.25 else None
        self.victim = draw.choice(["task", "task", "agent", "am"])
        self.index = draw.randrange(self.tasks)
        self.after = draw.random() * 0.6

    def __str__(self):
        return (f"{self.strategy}, {self.tasks} tasks, retries user {self.user} infrastructure {self.infrastructure}, "
                f"{self.am_attempts} AM attempts, failing {self.failing}; kill {self.victim} {self.index} after {self.after:.2f} s")

    def expected(self):
        """Verdict and, where it failed, whose exit did it. A kill pays from `infrastructure` (killed-external, node-lost and
        their kin); exit 1 from `user`, again at each attempt; an AM from its attempts."""
        if self.victim == "am" and self.am_attempts == 1:
            return "FAILED", None
        if self.victim in ("task", "agent") and self.infrastructure == 0:
            return "FAILED", f"worker:{self.index}"
        if self.failing is not None:
            return "FAILED", f"worker:{self.failing}"
        return "SUCCEEDED", None


def job_of(case):
    # Which index fails is decided by the process itself.
    shell = ("code=0; [ \"$TFYARN_TASK_INDEX\" = \"%d\" ] && code=1; " % (-1 if case.failing is None else case.failing) +
             "echo attempt $TFYARN_ATTEMPT; while [ ! -e FOLDER/shared/go ]; do sleep 0.02; done; "
             "for i in 1 2 3 4; do sleep 0.05; done; exit $code")
    body = shell.replace("\\", "\\\\").replace('"', '\\"').replace("FOLDER", "%s")
    return Job(BIN, f"""\
name: random
framework: generic
strategy: {case.strategy}
retries: {{user: {case.user}, infrastructure: {case.infrastructure}}}
deadlines: {{blame: 1s, stop: 1s}}
am: {{attempts: {case.am_attempts}}}
tasks:
  worker: {{instances: {case.tasks}, memory: 64MiB, command: [bash, -c, "{body}"]}}
""")


def victim_of(job, case):
    if case.victim == "am":
        masters = job.masters()
        return masters[0] if masters else None
    task = f"worker:{case.index}"
    return job.agent_of(task) if case.victim == "agent" else job.process_of(task)


def run(case):
    job = job_of(case)
    try:
        job.start("-q")
        for index in range(case.tasks):
            job.wait_for_line(f"worker:{index}", "attempt 0")
        time.sleep(case.after)  # When it strikes is what is random, not what the test waits for.
        pid = wait_for(f"a process of {case.victim}", lambda: victim_of(job, case))
        os.kill(pid, signal.SIGKILL)
        wait_for("the end of what was killed", lambda: not is_running(pid))
        (job.shared / "go").touch()
        job.end()
        result = job.job()
        status, cause = case.expected()
        check(result["status"] == status, f"{result['status']} where {status} was due: {result['diagnostics']}")
        if cause:
            check(result["cause"]["task"] == cause, f"cause {result['cause']['task']}, not {cause}")
    finally:
        job.close()


def main():
    print(f"seed {SEED}, {RUNS} runs; again: random_kills.py BIN_DIR {RUNS} {SEED}", flush=True)
    draw = random.Random(SEED)
    failed = 0
    for number in range(RUNS):
        case = Case(draw)
        try:
            run(case)
        except (Failure, OSError) as failure:
            failed += 1
            print(f"run {number}: {case}: FAILED: {failure}", flush=True)
    print(f"{RUNS - failed} of {RUNS} right")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
